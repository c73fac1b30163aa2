import assert from "node:assert/strict";
import { test } from "node:test";

import { formatGraph } from "../dist/index.js";

const urn = "urn:lumi:dev::p:index::test:index:T::a";

test("an empty graph has no optional fields", () => {
    assert.equal(formatGraph({ package: "p", resources: {} }), '{\n  "package": "p",\n  "resources": {}\n}\n');
});

test("keys are sorted by bytes, and references are on one line", () => {
    const properties = {
        "\u{1f600}": 1,
        "\ufffd": "\u0001\"\\\n\u007f\u2028",
        10: [],
        9: {},
        absent: undefined,
        b: [true, null, -0, 1e21, 1.5],
        a: { "#ref": urn, property: "arn" },
    };
    const graph = {
        package: "my/p",
        config: { note: null, at: { "#ref": "no reference" } },
        configuration: { aws: { region: "r", "#ref": "no reference" } },
        resources: { [urn]: { type: "test:index:T", properties } },
    };
    assert.equal(
        formatGraph(graph),
        `{
  "package": "my/p",
  "config": {
    "at": {
      "#ref": "no reference"
    },
    "note": null
  },
  "configuration": {
    "aws": {
      "#ref": "no reference",
      "region": "r"
    }
  },
  "resources": {
    "${urn}": {
      "type": "test:index:T",
      "properties": {
        "10": [],
        "9": {},
        "a": { "#ref": "${urn}", "property": "arn" },
        "b": [
          true,
          null,
          0,
          1e+21,
          1.5
        ],
        "\ufffd": "\\u0001\\"\\\\\\n\u007f\u2028",
        "\u{1f600}": 1
      }
    }
  }
}
`,
    );
});

test("references use the key in the graph's header", () => {
    const properties = { a: { "#ref2": urn }, b: { "#ref": 1 } };
    const text = formatGraph({ ref: "#ref2", package: "p", resources: { [urn]: { type: "t", properties } } });
    assert.match(text, /^\{\n {2}"ref": "#ref2",\n/);
    assert.ok(text.includes(`"a": { "#ref2": "${urn}" }`));
    assert.ok(text.includes('"b": {\n          "#ref": 1\n        }'));
});
