// Reads {"schemas": […], "documents": [{"schema": id, "document": …}]} from standard input, and prints whether
// each document is valid.
import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";

const { schemas, documents } = JSON.parse(readFileSync(0, "utf8"));
const ajv = new Ajv2020({ schemas });
process.stdout.write(JSON.stringify(documents.map((d) => ajv.getSchema(d.schema)(d.document))));
