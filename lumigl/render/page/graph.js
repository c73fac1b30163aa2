// The graph, with derived data added to the embedded data.

const NODE_WIDTH = 208;
const NODE_HEIGHT = 48;

const graph = JSON.parse(document.getElementById("data").textContent);
const nodes = graph.nodes;
const nodeOf = new Map(nodes.map((node) => [node.key, node]));

// Types often share a long prefix, so show only the last part, or the module and the last part if several types end
// alike.
const shortTypes = graph.types.map((type) => {
  const ends = [type.slice(type.lastIndexOf(":") + 1), type.slice(type.indexOf(":") + 1)];
  return ends.find((end) => graph.types.filter((other) => other.endsWith(":" + end)).length < 2) ?? type;
});

for (const node of nodes) {
  node.out = []; // arrows from this node
  node.in = [];
  node.typeName = graph.types[node.type] ?? "";
  node.shortType = shortTypes[node.type] ?? "";
  node.haystack = [node.name, node.typeName, node.key, node.id ?? ""].join("\n").toLowerCase();
}

const arrows = graph.arrows.map(([from, to, paths, more, bends]) => {
  const arrow = { from: nodes[from], to: nodes[to], paths, more, points: pointsOf(nodes[from], nodes[to], bends) };
  arrow.from.out.push(arrow);
  arrow.to.in.push(arrow);
  const xs = arrow.points.filter((_, i) => i % 2 === 0);
  const ys = arrow.points.filter((_, i) => i % 2 === 1);
  arrow.left = Math.min(...xs) - 60;
  arrow.right = Math.max(...xs) + 60;
  arrow.top = Math.min(...ys) - 60;
  arrow.bottom = Math.max(...ys) + 60;
  return arrow;
});

// pointsOf returns the points of an arrow, including its ends at the sides of the nodes.
function pointsOf(from, to, bends) {
  const half = NODE_WIDTH / 2;
  if (from === to) {
    return [from.x + half, from.y - 10, from.x + half, from.y + 10];
  }
  const route = [from.x, from.y, ...bends, to.x, to.y];
  const n = route.length;
  route[0] += route[2] >= from.x ? half : -half;
  route[n - 2] += to.x >= route[n - 4] ? -half : half;
  return route;
}

const hues = [215, 28, 150, 275, 345, 185, 50, 100, 315, 240];

// colorOf returns the color of a type. If there are more types than hues, hues are repeated in a darker and then in a
// lighter shade.
function colorOf(type) {
  if (type < 0) {
    return colors.accent;
  }
  const shade = [0, -16, 16][Math.floor(type / hues.length) % 3];
  return `hsl(${hues[type % hues.length]} ${colors.saturation} ${parseInt(colors.lightness, 10) + shade}%)`;
}

// plural formats a count followed by a noun.
function plural(n, thing) {
  const many = { vertex: "vertices", dependency: "dependencies" }[thing] ?? thing + "s";
  return `${n.toLocaleString("en")} ${n === 1 ? thing : many}`;
}

// make creates an element. Strings are always inserted as text nodes.
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) {
      element.addEventListener(name.slice(2), value);
    } else if (value !== undefined && value !== false) {
      element.setAttribute(name, value === true ? "" : value);
    }
  }
  element.append(...children);
  return element;
}

// dot creates a dot in the color of a type.
function dot(type) {
  const spot = make("span", { class: "dot", "aria-hidden": "true" });
  spot.style.background = colorOf(type);
  return spot;
}
