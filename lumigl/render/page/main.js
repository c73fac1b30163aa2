// The page: selection, keyboard, and startup.

// say announces a text to screen readers.
function say(text) {
  document.getElementById("status").textContent = text;
}

// select shows a node and its details. If node is null, it clears the selection. If passing is set, as when stepping
// with the arrow keys, the browser's history gets no entry.
function select(node, { keepFocus = false, keepView = false, keepAddress = false, passing = false } = {}) {
  land();
  state.selected = node;
  state.hovered = null;
  canvas.dataset.selected = node ? node.key : "";
  const { width, height } = view;
  showDetails(node);
  resize();
  view.x += (view.width - width) / 2 / view.scale; // Keep the top left corner in place.
  view.y += (view.height - height) / 2 / view.scale;
  if (node) {
    say(`${node.name}, ${node.typeName || graph.noun}: depends on ${node.out.length}, used by ${node.in.length}`);
    if (!keepView) {
      reveal(node);
    }
  } else {
    say("Nothing is selected");
  }
  if (!keepAddress) {
    const address = location.pathname + location.search + (node ? "#" + encodeURIComponent(node.key) : "");
    if (passing || location.href.endsWith(address)) {
      history.replaceState(null, "", address);
    } else {
      history.pushState(null, "", address);
    }
  }
  if (!keepFocus && document.activeElement !== canvas) {
    canvas.focus({ preventScroll: true });
  }
  redraw();
}

// reveal moves the view to a node unless the node is fully visible at a readable size.
function reveal(node) {
  const x = (node.x - view.x) * view.scale + view.width / 2;
  const y = (node.y - view.y) * view.scale + view.height / 2;
  const margin = 24 + (NODE_WIDTH / 2) * view.scale;
  const seen = x > margin && y > margin / 2 && x < view.width - margin && y < view.height - margin / 2;
  if (!seen || view.scale < 0.4) {
    fly(closeUp(node));
  }
}

// closeUp returns a view of a node and its neighbors, or of the node alone if it would be too small to read otherwise.
function closeUp(node) {
  const near = [node, ...node.out.map((arrow) => arrow.to), ...node.in.map((arrow) => arrow.from)];
  const scale = Math.max(view.scale, 0.8);
  if (near.length <= 60) {
    const xs = near.map((one) => one.x);
    const ys = near.map((one) => one.y);
    const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
    const fitting = Math.min(
      view.width / (right - left + NODE_WIDTH + 80), view.height / (bottom - top + NODE_HEIGHT + 80), scale,
    );
    if (fitting >= 0.5) {
      return { x: (left + right) / 2, y: (top + bottom) / 2, scale: fitting };
    }
  }
  return { x: node.x, y: node.y, scale };
}

// neighbor returns the node to select when an arrow key is pressed, or null.
function neighbor(node, key) {
  const near = (list) => list.reduce((best, one) =>
    one !== node && (!best || Math.abs(one.y - node.y) < Math.abs(best.y - node.y)) ? one : best, null);
  switch (key) {
    case "ArrowLeft":
      return near(node.in.map((arrow) => arrow.from));
    case "ArrowRight":
      return near(node.out.map((arrow) => arrow.to));
  }
  const down = key === "ArrowDown";
  const column = nodes.filter((one) => one.x === node.x && (down ? one.y > node.y : one.y < node.y));
  return near(column);
}

// middle returns the node closest to the center of the view.
function middle() {
  let best = null;
  let least = Infinity;
  for (const node of nodes) {
    const distance = Math.hypot(node.x - view.x, node.y - view.y);
    if (distance < least) {
      best = node;
      least = distance;
    }
  }
  return best;
}

function onCanvasKey(event) {
  const arrow = { ArrowLeft: [80, 0], ArrowRight: [-80, 0], ArrowUp: [0, 80], ArrowDown: [0, -80] }[event.key];
  if (arrow && state.selected && !event.shiftKey) {
    const next = neighbor(state.selected, event.key);
    if (next) {
      select(next, { passing: true });
    }
  } else if (arrow) {
    move(...arrow);
  } else if (event.key === "Enter" && state.selected) {
    details.focus();
  } else if (event.key === "Enter" && nodes.length > 0) {
    select(middle());
  } else {
    return;
  }
  event.preventDefault();
}

function onKey(event) {
  if (event.altKey || event.ctrlKey || event.metaKey || document.getElementById("help").open) {
    return;
  }
  if (event.key === "Escape") {
    if (searchBox.value) {
      searchBox.value = "";
      search();
    } else {
      select(null);
    }
    return;
  }
  if (event.target === searchBox) {
    if (event.key === "Enter") {
      event.preventDefault();
      nextFound(event.shiftKey ? -1 : 1);
    }
    return;
  }
  const act = {
    "/": () => searchBox.focus(), "?": showHelp, "+": () => zoom(1.3), "=": () => zoom(1.3), "-": () => zoom(1 / 1.3),
    "0": () => fly(fitted()),
  }[event.key];
  if (act) {
    event.preventDefault();
    act();
  }
}

function zoom(factor) {
  fly({ scale: (destination ?? view).scale * factor });
}

function showHelp() {
  document.getElementById("help").showModal();
}

// resize adjusts the canvas to the size of its container. It returns whether the canvas was cleared.
function resize() {
  const stage = document.getElementById("stage");
  ratio = window.devicePixelRatio || 1;
  view.width = Math.max(1, stage.clientWidth);
  view.height = Math.max(1, stage.clientHeight);
  const width = Math.round(view.width * ratio);
  const height = Math.round(view.height * ratio);
  const resized = canvas.width !== width || canvas.height !== height;
  if (resized) {
    canvas.width = width;
    canvas.height = height;
  }
  redraw();
  return resized;
}

// followAddress selects the node whose key is the fragment of the address. If there is no fragment, it clears the
// selection.
function followAddress(options) {
  let key = "";
  try {
    key = decodeURIComponent(location.hash.slice(1));
  } catch {
    return; // not a valid address
  }
  const node = (location.href.includes("#") && nodeOf.get(key)) || null; // the key may be empty
  if (node !== state.selected) {
    select(node, { keepAddress: true, ...options });
  }
  if (key && !node) {
    say(`${key} is not drawn here`);
  }
}

function begin() {
  readColors();
  document.getElementById("title").textContent = graph.title;
  const shown = nodes.length === graph.total ? plural(graph.total, graph.noun)
    : `${nodes.length.toLocaleString("en")} of ${plural(graph.total, graph.noun)}`;
  const pending = graph.pending ? `, ${plural(graph.pending, "pending change")}` : "";
  document.getElementById("counts").textContent = `${shown}, ${plural(arrows.length, "dependency")}${pending}`;
  document.getElementById("nothing").hidden = nodes.length > 0;
  fillLegend();
  listFound(false);
  resize();
  followAddress({ keepFocus: true, keepView: true });
  Object.assign(view, fitted());
  if (state.selected) {
    reveal(state.selected);
    land();
  }
  new ResizeObserver(() => {
    if (resize()) {
      paint(); // A repaint in the next frame would leave the canvas empty in this one.
    }
  }).observe(document.getElementById("stage"));
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    readColors();
    fillLegend();
    showDetails(state.selected);
    redraw();
  });
  window.matchMedia("print").addEventListener("change", () => {
    readColors(); // Paper is white.
    paint();
  });
  listenToPointers((node) => select(node, { keepView: true }));
  canvas.addEventListener("keydown", onCanvasKey);
  document.addEventListener("keydown", onKey);
  window.addEventListener("hashchange", () => followAddress());
  searchBox.addEventListener("input", search);
  document.getElementById("zoom-in").addEventListener("click", () => zoom(1.3));
  document.getElementById("zoom-out").addEventListener("click", () => zoom(1 / 1.3));
  document.getElementById("fit").addEventListener("click", () => fly(fitted()));
  document.getElementById("help-button").addEventListener("click", showHelp);
  canvas.dataset.nodes = nodes.length;
  canvas.dataset.arrows = arrows.length;
  paint();
  document.documentElement.dataset.ready = "";
}

begin();
