// Drawing. Only nodes and details that are visible at the current zoom are drawn.

const context = canvas.getContext("2d");
const colors = {};
const state = {
  selected: null,
  hovered: null,
  type: -1, // selected in the legend
  matches: null, // set of nodes that match the search, or null
};
let frame = 0;
let ratio = 1;

// redraw schedules a repaint in the next frame.
function redraw() {
  frame ||= requestAnimationFrame(() => {
    frame = 0;
    paint();
  });
}

// readColors reads the colors from the style sheet. They depend on whether the page is in light or dark mode.
function readColors() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ["ground", "panel", "line", "text", "soft", "accent", "accent-soft", "node", "node-line", "arrow", "grid",
    "upstream", "downstream", "saturation", "lightness"]) {
    colors[name] = style.getPropertyValue("--" + name).trim();
  }
}

// isDimmed reports whether a node is excluded by the search or the legend filter.
function isDimmed(node) {
  return (state.matches !== null && !state.matches.has(node)) || (state.type >= 0 && node.type !== state.type);
}

function paint() {
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.fillStyle = colors.ground;
  context.fillRect(0, 0, view.width, view.height);
  const scale = view.scale;
  context.setTransform(
    ratio * scale, 0, 0, ratio * scale, ratio * (view.width / 2 - view.x * scale), ratio * (view.height / 2 - view.y * scale),
  );
  const a = toGraph(0, 0);
  const b = toGraph(view.width, view.height);
  const focus = state.hovered ?? state.selected;
  paintArrows(a, b, focus);
  paintNodes(a, b, focus);
  canvas.dataset.zoom = scale.toFixed(3);
  document.getElementById("zoom").textContent = `${Math.round(scale * 100)}%`;
}

function paintArrows(a, b, focus) {
  const usual = new Path2D();
  const strong = [];
  const filtered = state.matches !== null || state.type >= 0;
  const heads = view.scale > 0.25;
  for (const arrow of arrows) {
    if (arrow.right < a.x || arrow.left > b.x || arrow.bottom < a.y || arrow.top > b.y) {
      continue;
    }
    if (focus && (arrow.from === focus || arrow.to === focus)) {
      strong.push(arrow);
    } else {
      trace(usual, arrow);
      if (heads) {
        traceHead(usual, arrow);
      }
    }
  }
  context.lineWidth = Math.max(1.2, 0.6 / view.scale);
  context.strokeStyle = colors.arrow;
  context.globalAlpha = focus || filtered ? 0.3 : view.scale < 0.15 ? 0.55 : 0.85;
  context.stroke(usual);
  context.globalAlpha = 1;
  for (const arrow of strong) {
    const path = new Path2D();
    trace(path, arrow);
    traceHead(path, arrow);
    context.lineWidth = Math.max(2, 1.6 / view.scale);
    context.strokeStyle = arrow.from === focus ? colors.downstream : colors.upstream;
    context.stroke(path);
  }
  if (view.scale > 0.55 && strong.length <= 40) {
    strong.forEach(paintPaths);
  }
}

// trace adds an arrow to a path as curves that are horizontal at both ends.
function trace(path, arrow) {
  const p = arrow.points;
  path.moveTo(p[0], p[1]);
  if (arrow.from === arrow.to) {
    path.bezierCurveTo(p[0] + 44, p[1] - 16, p[0] + 44, p[3] + 16, p[2], p[3]);
    return;
  }
  for (let i = 2; i < p.length; i += 2) {
    const half = (p[i] - p[i - 2]) / 2;
    path.bezierCurveTo(p[i - 2] + half, p[i - 1], p[i] - half, p[i + 1], p[i], p[i + 1]);
  }
}

function traceHead(path, arrow) {
  const p = arrow.points;
  const x = p[p.length - 2];
  const y = p[p.length - 1];
  const back = arrow.from === arrow.to || x < p[p.length - 4] ? 7 : -7;
  path.moveTo(x + back, y - 4);
  path.lineTo(x, y);
  path.lineTo(x + back, y + 4);
}

// paintPaths paints the paths of an arrow's references at its middle.
function paintPaths(arrow) {
  const p = arrow.points;
  const i = Math.max(2, 2 * Math.floor(p.length / 4));
  const x = (p[i - 2] + p[i]) / 2;
  const y = (p[i - 1] + p[i + 1]) / 2;
  const text = arrow.paths.length > 1 || arrow.more ? `${arrow.paths[0]} +${arrow.paths.length - 1 + arrow.more}` : arrow.paths[0];
  if (!text) {
    return;
  }
  context.font = "11px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace";
  const shown = fitText(text, 112);
  const width = context.measureText(shown).width;
  context.fillStyle = colors.ground;
  context.fillRect(x - width / 2 - 4, y - 8, width + 8, 16);
  context.fillStyle = colors.soft;
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.fillText(shown, x, y + 0.5);
}

function paintNodes(a, b, focus) {
  const near = new Set();
  if (focus) {
    near.add(focus);
    focus.out.forEach((arrow) => near.add(arrow.to));
    focus.in.forEach((arrow) => near.add(arrow.from));
  }
  const halfWidth = NODE_WIDTH / 2;
  const halfHeight = NODE_HEIGHT / 2;
  for (const node of nodes) {
    if (node.x + halfWidth < a.x || node.x - halfWidth > b.x || node.y + halfHeight < a.y || node.y - halfHeight > b.y) {
      continue;
    }
    context.globalAlpha = near.has(node) ? 1 : isDimmed(node) ? 0.22 : focus ? 0.45 : 1;
    if (view.scale < 0.2) {
      context.fillStyle = colorOf(node.type);
      context.fillRect(node.x - halfWidth, node.y - halfHeight, NODE_WIDTH, NODE_HEIGHT);
      outline(node, near, 0);
      continue;
    }
    paintNode(node, near);
  }
  context.globalAlpha = 1;
}

function paintNode(node, near) {
  const x = node.x - NODE_WIDTH / 2;
  const y = node.y - NODE_HEIGHT / 2;
  context.beginPath();
  context.roundRect(x, y, NODE_WIDTH, NODE_HEIGHT, 8);
  context.fillStyle = colors.node;
  context.fill();
  context.lineWidth = 1;
  context.strokeStyle = colors["node-line"];
  context.stroke();
  context.fillStyle = colorOf(node.type);
  context.beginPath();
  context.roundRect(x, y, Math.max(6, 3 / view.scale), NODE_HEIGHT, [8, 0, 0, 8]);
  context.fill();
  outline(node, near, 8);
  context.textAlign = "left";
  context.textBaseline = "middle";
  context.direction = "ltr";
  const room = NODE_WIDTH - 30;
  if (view.scale < 0.5) {
    // At low zoom, draw only the name, in a larger font.
    const size = view.scale < 0.28 ? 30 : 24;
    context.font = `600 ${size}px system-ui, -apple-system, 'Segoe UI', Roboto, Arial, sans-serif`;
    context.fillStyle = colors.text;
    node.farNames ??= {};
    node.farNames[size] ??= fitText(node.name, room);
    context.fillText(node.farNames[size], x + 17, node.y + 1);
    return;
  }
  context.font = "600 14px system-ui, -apple-system, 'Segoe UI', Roboto, Arial, sans-serif";
  context.fillStyle = colors.text;
  const height = node.shortType ? node.y - 9 : node.y + 1;
  node.shownName ??= fitText(node.name, room);
  context.fillText(node.shownName, x + 17, height);
  if (node.shortType) {
    context.font = "12px system-ui, -apple-system, 'Segoe UI', Roboto, Arial, sans-serif";
    context.fillStyle = colors.soft;
    node.shownType ??= fitText(node.shortType, room);
    context.fillText(node.shownType, x + 17, node.y + 11);
  }
}

// outline draws an outline around a selected, hovered, or matching node.
function outline(node, near, radius) {
  const found = state.matches !== null && state.matches.has(node);
  if (node !== state.selected && node !== state.hovered && !found) {
    return;
  }
  const pixel = 1 / view.scale;
  const gap = Math.max(2, pixel);
  context.beginPath();
  context.roundRect(
    node.x - NODE_WIDTH / 2 - gap, node.y - NODE_HEIGHT / 2 - gap, NODE_WIDTH + 2 * gap, NODE_HEIGHT + 2 * gap, radius + gap,
  );
  context.lineWidth = Math.max(node === state.selected ? 2.5 : 1.5, (node === state.selected ? 2 : 1.2) * pixel);
  context.strokeStyle = colors.accent;
  context.stroke();
}

// fitText shortens a text to the available width. It cuts the middle, since long names often differ only at their ends.
function fitText(text, room) {
  if (context.measureText(text).width <= room) {
    return text;
  }
  const characters = [...text];
  const shortened = (kept) => {
    const start = Math.ceil(kept / 2);
    return characters.slice(0, start).join("") + "…" + characters.slice(characters.length - (kept - start)).join("");
  };
  let low = 0;
  let high = characters.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (context.measureText(shortened(middle)).width <= room) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return shortened(low);
}

function hover(node) {
  if (node === state.hovered) {
    return;
  }
  state.hovered = node;
  canvas.classList.toggle("over", node !== null);
  const cut = node && (view.scale < 0.5 || node.shownName !== node.name || node.shownType !== node.typeName);
  canvas.title = cut ? `${node.name}\n${node.typeName}` : "";
  redraw();
}
