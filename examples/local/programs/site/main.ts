// A small web site in the folder that the program is in, with a password for its visitors and an index of its pages.
// graph.json is what it evaluates to.

import * as lumi from "@lumi/lumi";
import * as local from "../../pack/index.js";

const pages = new local.Unpacked({
    path: "site",
    archive: lumi.Archive.fromAssets({
        "index.html": lumi.Asset.fromText('<!doctype html>\n<link rel="stylesheet" href="css/site.css">\n<p>It works</p>\n'),
        "css/site.css": lumi.Asset.fromText("p { color: green }\n"),
    }),
});

// There is a new password each year, and whenever a different one is the current user.
const password = new local.RandomString("password", { length: 24, keepers: { user: "ann", year: "2026" } });

// What a password is copied to stays a secret, and the file is for its owner only.
new local.File({ path: "password.txt", content: password.result, mode: "600" });

// The index is made again when a page changes: the trigger is known when the pages are unpacked.
new local.Command("index", {
    create: "cd site && find . -type f | sort > ../index.txt && wc -l < ../index.txt",
    delete: "rm -f index.txt",
    triggers: { pages: pages.files },
});
