// The view: the visible part of the graph and its scale.

const canvas = document.getElementById("canvas");
const MIN_SCALE = 0.01;
const MAX_SCALE = 4;

// x and y are the graph coordinates of the center. scale is the number of screen pixels per graph pixel.
const view = { x: 0, y: 0, scale: 1, width: 1, height: 1 };
const still = window.matchMedia("(prefers-reduced-motion: reduce)");
let flight = 0; // running animation
let destination = null; // where the animation ends

function clampScale(scale) {
  return Math.min(MAX_SCALE, Math.max(MIN_SCALE, scale));
}

// fitted returns the view that shows the whole graph.
function fitted() {
  const margin = 40;
  const scale = Math.min(
    (view.width - 2 * margin) / Math.max(graph.width, 1), (view.height - 2 * margin) / Math.max(graph.height, 1), 1.25,
  );
  return { x: graph.width / 2, y: graph.height / 2, scale: clampScale(scale) };
}

// land completes the running animation immediately.
function land() {
  cancelAnimationFrame(flight);
  Object.assign(view, destination);
  destination = null;
}

// stop stops the running animation at its current position.
function stop() {
  cancelAnimationFrame(flight);
  destination = null;
}

// fly animates the transition to another view.
function fly(target) {
  stop();
  const from = { x: view.x, y: view.y, scale: view.scale };
  const to = { ...from, ...target };
  to.scale = clampScale(to.scale);
  if (still.matches) {
    Object.assign(view, to);
    redraw();
    return;
  }
  destination = to;
  const start = performance.now();
  const step = (now) => {
    const t = Math.min(1, Math.max(0, (now - start) / 220));
    const ease = 1 - (1 - t) ** 3;
    view.scale = from.scale * (to.scale / from.scale) ** ease;
    view.x = from.x + (to.x - from.x) * ease;
    view.y = from.y + (to.y - from.y) * ease;
    redraw();
    if (t < 1) {
      flight = requestAnimationFrame(step);
    } else {
      destination = null;
    }
  };
  flight = requestAnimationFrame(step);
}

// zoomAt zooms by a factor, keeping a point of the canvas fixed.
function zoomAt(factor, x, y) {
  stop();
  const at = toGraph(x, y);
  view.scale = clampScale(view.scale * factor);
  view.x = at.x - (x - view.width / 2) / view.scale;
  view.y = at.y - (y - view.height / 2) / view.scale;
  redraw();
}

function toGraph(x, y) {
  return { x: view.x + (x - view.width / 2) / view.scale, y: view.y + (y - view.height / 2) / view.scale };
}

function move(dx, dy) {
  stop();
  view.x -= dx / view.scale;
  view.y -= dy / view.scale;
  redraw();
}

// nodeAt returns the node at a point of the canvas, or null. At low zoom, it accepts a node near the point.
function nodeAt(x, y) {
  const at = toGraph(x, y);
  const slack = Math.max(0, 6 / view.scale - NODE_HEIGHT / 2);
  let best = null;
  let least = Infinity;
  for (const node of nodes) {
    const dx = Math.abs(node.x - at.x);
    const dy = Math.abs(node.y - at.y);
    if (dx <= NODE_WIDTH / 2 + slack && dy <= NODE_HEIGHT / 2 + slack && dx + dy < least) {
      best = node;
      least = dx + dy;
    }
  }
  return best;
}

// Active pointers. One drags; two pinch.
const pointers = new Map();
let traveled = 0;

function spread() {
  const [a, b] = [...pointers.values()];
  return { distance: Math.hypot(a.x - b.x, a.y - b.y), x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 };
}

function listenToPointers(choose) {
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) {
      return;
    }
    canvas.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
    traveled = pointers.size > 1 ? Infinity : 0;
  });
  canvas.addEventListener("pointermove", (event) => {
    const last = pointers.get(event.pointerId);
    if (!last) {
      hover(nodeAt(event.offsetX, event.offsetY));
      return;
    }
    const before = pointers.size === 2 ? spread() : null;
    const dx = event.offsetX - last.x;
    const dy = event.offsetY - last.y;
    pointers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
    if (before) {
      const after = spread();
      move(after.x - before.x, after.y - before.y);
      zoomAt(after.distance / Math.max(before.distance, 1), after.x, after.y);
      return;
    }
    traveled += Math.abs(dx) + Math.abs(dy);
    if (traveled > 4) {
      canvas.classList.add("moving");
      move(dx, dy);
    }
  });
  const lift = (event) => {
    if (!pointers.delete(event.pointerId)) {
      return;
    }
    canvas.classList.remove("moving");
    if (event.type === "pointerup" && traveled <= 4) {
      choose(nodeAt(event.offsetX, event.offsetY));
    }
  };
  canvas.addEventListener("pointerup", lift);
  canvas.addEventListener("pointercancel", lift);
  canvas.addEventListener("pointerleave", () => hover(null));
  canvas.addEventListener("dblclick", (event) => {
    const at = toGraph(event.offsetX, event.offsetY);
    fly({ ...at, scale: Math.max(view.scale * 2, 1) });
  });
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
    // Browsers report a pinch on a touchpad as wheel events with the control key and small deltas.
    const speed = event.ctrlKey ? 0.01 : 0.0018;
    zoomAt(Math.exp(-Math.max(-240, Math.min(240, event.deltaY * lines)) * speed), event.offsetX, event.offsetY);
  }, { passive: false });
}
