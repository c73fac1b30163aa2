// Reads flowcharts, a JSON list of texts, from standard input, and prints what Mermaid understands: for each the texts of
// the nodes and how many arrows there are.
import { readFileSync } from "node:fs";
import { JSDOM } from "jsdom";

// Mermaid wants a document to clean texts with, also if it only parses.
const { window } = new JSDOM("");
globalThis.window = window;
globalThis.document = window.document;
const { default: mermaid } = await import("mermaid");

// Mermaid keeps its entities in a form of its own until it draws.
const decode = (text) => text.replaceAll(/ﬂ°°(\d+)¶ß/g, (_, code) => String.fromCodePoint(Number(code)));

const all = [];
for (const text of JSON.parse(readFileSync(0, "utf8"))) {
  await mermaid.parse(text);
  const { db } = await mermaid.mermaidAPI.getDiagramFromText(text);
  all.push({ nodes: [...db.getVertices().values()].map((node) => decode(node.text)), arrows: db.getEdges().length });
}
console.log(JSON.stringify(all));
