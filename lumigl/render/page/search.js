// Search and legend.

const MAX_LISTED = 200;
const NAME_END = 12; // number of characters at the end of a long name that always stay visible
const searchBox = document.getElementById("search");
let found = []; // matches, the best first
let current = -1; // index of the current match

function search() {
  const words = searchBox.value.trim().toLowerCase().split(/\s+/).filter(Boolean);
  current = -1;
  if (words.length === 0) {
    found = [];
    state.matches = null;
  } else {
    found = nodes.filter((node) => words.every((word) => node.haystack.includes(word)));
    // List nodes with a match in the name before nodes with a match only in the key.
    const first = words[0];
    const grade = (node) => {
      const name = node.name.toLowerCase();
      return name === first ? 0 : name.startsWith(first) ? 1 : name.includes(first) ? 2 : 3;
    };
    const grades = new Map(found.map((node) => [node, grade(node)]));
    found.sort((a, b) => grades.get(a) - grades.get(b));
    state.matches = new Set(found);
  }
  listFound(words.length > 0);
  resize();
}

function listFound(searched) {
  document.getElementById("found").hidden = !searched;
  document.getElementById("side").classList.toggle("searching", searched);
  document.getElementById("side").hidden = !searched && graph.types.length === 0;
  const list = document.getElementById("results");
  list.replaceChildren(...found.slice(0, MAX_LISTED).map((node) => make("li", {}, nodeButton(node))));
  if (found.length > MAX_LISTED) {
    list.append(make("li", { class: "note" }, `and ${(found.length - MAX_LISTED).toLocaleString("en")} more`));
  }
  const text = found.length === 0 ? "Nothing found" : `${found.length.toLocaleString("en")} found`;
  document.getElementById("found-title").textContent = text;
  if (searched) {
    say(text);
  }
}

// nodeButton creates a button that selects a node.
function nodeButton(node, note = "") {
  const label = make("span", { class: "label" }, bothEnds(node.name));
  const under = [node.shortType, note].filter(Boolean).join(" · ");
  if (under) {
    label.append(make("small", {}, under));
  }
  return make("button", { type: "button", title: node.key, onclick: () => select(node) }, dot(node.type), label);
}

// bothEnds creates an element with a name whose middle is cut if there is not enough room, since long names often
// differ only at their ends. The aria-label keeps screen readers from pausing between the parts.
function bothEnds(name) {
  const characters = [...name];
  if (characters.length <= 2 * NAME_END) {
    return make("bdi", {}, name);
  }
  return make("bdi", { class: "ends", role: "img", "aria-label": name },
    make("span", { class: "start" }, characters.slice(0, -NAME_END).join("")),
    make("span", { class: "end" }, characters.slice(-NAME_END).join("")));
}

// nextFound selects the next match, or the previous one if step is negative.
function nextFound(step) {
  if (found.length === 0) {
    return;
  }
  current = (current + step + found.length) % found.length;
  select(found[current], { keepFocus: true, passing: true });
  [...document.querySelectorAll("#results button")].forEach((button, i) => {
    if (i === current) {
      button.setAttribute("aria-current", "true");
      button.scrollIntoView({ block: "nearest" });
    } else {
      button.removeAttribute("aria-current");
    }
  });
}

// fillLegend lists the types with their colors. Clicking a type highlights its nodes.
function fillLegend() {
  document.getElementById("legend-section").hidden = graph.types.length === 0;
  const counts = new Array(graph.types.length).fill(0);
  nodes.forEach((node) => node.type >= 0 && counts[node.type]++);
  document.getElementById("legend").replaceChildren(...graph.types.map((type, i) => {
    const at = type.lastIndexOf(":");
    const label = make("span", { class: "label" }, make("bdi", {}, type.slice(at + 1)), make("small", {}, type.slice(0, at)));
    return make("li", {}, make("button", {
      type: "button", title: type, "aria-pressed": String(state.type === i), onclick: (event) => pickType(i, event.currentTarget),
    }, dot(i), label, make("span", { class: "count" }, counts[i].toLocaleString("en"))));
  }));
}

function pickType(type, button) {
  state.type = state.type === type ? -1 : type;
  document.querySelectorAll("#legend button").forEach((other) => {
    other.setAttribute("aria-pressed", String(other === button && state.type >= 0));
  });
  redraw();
}
