// A small website in the program's folder, with a password for visitors and an index of the pages. graph.json contains the
// program's output.

import * as lumi from "@lumi/lumi";
import * as local from "../../pack/index.js";

const pages = new local.Unpacked({
    path: "site",
    archive: lumi.Archive.fromAssets({
        "index.html": lumi.Asset.fromText('<!doctype html>\n<link rel="stylesheet" href="css/site.css">\n<p>It works</p>\n'),
        "css/site.css": lumi.Asset.fromText("p { color: green }\n"),
    }),
});

// A new year or a new user replaces the password.
const password = new local.RandomString("password", { length: 24, keepers: { user: "ann", year: "2026" } });

// The content is a secret, since it is derived from one. Only the owner can read the file.
new local.File({ path: "password.txt", content: password.result, mode: "600" });

// The index is rebuilt when a page changes. Its trigger is unknown until the pages are unpacked.
new local.Command("index", {
    create: "cd site && find . -type f | sort > ../index.txt && wc -l < ../index.txt",
    delete: "rm -f index.txt",
    triggers: { pages: pages.files },
});
