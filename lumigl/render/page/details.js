// Details of the selected node.

const details = document.getElementById("details");

function showDetails(node) {
  details.hidden = node === null;
  details.parentElement.classList.toggle("reading", node !== null);
  if (node === null) {
    details.replaceChildren();
    return;
  }
  const facts = make("dl", { class: "facts" });
  for (const [name, value] of [["type", node.typeName], ["id", node.id], ["key", node.key], ["source", node.source]]) {
    if (value) {
      facts.append(make("dt", {}, name), make("dd", {}, make("bdi", {}, value), ...(name === "type" ? [] : [copyButton(name, value)])));
    }
  }
  details.replaceChildren(
    make("header", {},
      make("div", {}, make("h2", { class: "name" }, node.name),
        ...(node.shortType ? [make("p", { class: "type" }, dot(node.type), node.shortType)] : [])),
      make("button", { type: "button", "aria-label": "Close", title: "Close (Esc)", onclick: () => select(null) }, "✕")),
    facts,
    ...(node.options ? bag("Options", node.options) : []),
    ...bag("Properties", node.properties),
    ...(node.extensions ? bag("Extensions", node.extensions) : []),
    ...links("Depends on", node.out, "to"),
    ...links("Used by", node.in, "from"),
  );
  details.scrollTop = 0;
}

// copyButton returns a button that copies a text. If the browser denies access to the clipboard, clicking it selects
// the text instead.
function copyButton(name, text) {
  return make("button", {
    type: "button", class: "copy", "aria-label": `Copy ${name}`, onclick: async (event) => {
      const button = event.currentTarget;
      try {
        await navigator.clipboard.writeText(text);
        button.textContent = "Copied";
        say(`${name} copied`);
      } catch {
        getSelection().selectAllChildren(button.previousElementSibling);
      }
    },
  }, "Copy");
}

function bag(title, value) {
  const tree = make("div", { class: "tree" });
  if (value.length === 1) {
    tree.append(make("span", { class: "more" }, "none"));
  } else {
    tree.append(inside(value));
  }
  return [make("h3", {}, title), tree];
}

function links(title, list, end) {
  const items = list.slice(0, MAX_LISTED).map((arrow) => {
    const paths = arrow.paths.filter(Boolean).join(", ") + (arrow.more ? `, and ${arrow.more} more` : "");
    return make("li", {}, nodeButton(arrow[end], paths));
  });
  if (list.length > MAX_LISTED) {
    items.push(make("li", { class: "note" }, `and ${(list.length - MAX_LISTED).toLocaleString("en")} more`));
  }
  if (list.length === 0) {
    items.push(make("li", { class: "note" }, "nothing"));
  }
  return [make("h3", {}, list.length ? `${title} (${list.length.toLocaleString("en")})` : title), make("ul", { class: "links" }, ...items)];
}

// inside returns a list element with the contents of an object or a list.
function inside(value) {
  const list = make("ul");
  const isList = value[0] === "list";
  for (let i = 1; i < value.length; i++) {
    if (Array.isArray(value[i]) && value[i][0] === "more") {
      list.append(make("li", { class: "more" }, `… and ${value[i][1].toLocaleString("en")} more`));
      continue;
    }
    const key = make("span", { class: "key" }, isList ? `${i - 1}: ` : `${value[i]}: `);
    list.append(member(key, isList ? value[i] : value[++i]));
  }
  return list;
}

function member(key, value) {
  if (Array.isArray(value) && ["object", "list", "asset", "archive", "jsonStringify"].includes(value[0])) {
    const n = value[0] === "list" ? value.length - 1 : (value.length - 1) / 2;
    if (n === 0) {
      return make("li", {}, key, value[0] === "list" ? "[]" : "{}");
    }
    const note = value[0] === "list" || value[0] === "object" ? "" : make("span", { class: "masked" }, value[0]);
    return make("li", {}, make("details", { open: n <= 12 }, make("summary", {}, key, note), inside(value)));
  }
  if (typeof value === "string" && (value.length > LONG_TEXT || value.split("\n").length > 3)) {
    const start = make("span", { class: "text" }, JSON.stringify(clipped(value)).slice(0, -1) + "…");
    return make("li", {}, make("details", {}, make("summary", {}, key, start), make("div", { class: "text whole" }, value)));
  }
  return make("li", {}, key, scalar(value));
}

// Longer texts are collapsed. Expanding them shows all lines.
const LONG_TEXT = 200;

function clipped(text) {
  return [...text.slice(0, 120)].slice(0, 60).join("");
}

function scalar(value) {
  if (typeof value === "string") {
    return make("span", { class: "text" }, JSON.stringify(value));
  }
  if (!Array.isArray(value)) {
    return make("span", { class: "word" }, String(value));
  }
  switch (value[0]) {
    case "number":
      return make("span", { class: "number" }, value[1]);
    case "secret":
      return make("span", { class: "masked" }, "(secret)");
    case "expression":
      return make("span", { class: "word" }, value[1]);
    case "unknown":
      return make("span", { class: "masked" }, "(not known yet)");
  }
  const target = nodeOf.get(value[1]);
  const text = (target ? target.name : value[1]) + (value[2] ? ` (${value[2]})` : "");
  if (!target) {
    return make("span", { class: "more", title: "not drawn here" }, `→ ${text}`);
  }
  return make("a", { href: "#" + encodeURIComponent(target.key), title: target.key }, `→ ${text}`);
}
