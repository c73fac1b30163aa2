// Reads a JSON list of flowcharts from standard input, parses each with Mermaid, and prints the texts of its nodes and the
// number of its arrows.
import { readFileSync } from "node:fs";
import { JSDOM } from "jsdom";

// Mermaid sanitizes texts with a DOM, even when it only parses.
const { window } = new JSDOM("");
globalThis.window = window;
globalThis.document = window.document;
const { default: mermaid } = await import("mermaid");

// Mermaid keeps entities encoded until it draws.
const decode = (text) => text.replaceAll(/ﬂ°°(\d+)¶ß/g, (_, code) => String.fromCodePoint(Number(code)));

const all = [];
for (const text of JSON.parse(readFileSync(0, "utf8"))) {
  await mermaid.parse(text);
  const { db } = await mermaid.mermaidAPI.getDiagramFromText(text);
  all.push({ nodes: [...db.getVertices().values()].map((node) => decode(node.text)), arrows: db.getEdges().length });
}
console.log(JSON.stringify(all));
