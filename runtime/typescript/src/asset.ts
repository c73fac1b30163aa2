import { markInstances } from "./copies.js";
import { checkNames } from "./entries.js";
import { isPlain } from "./shape.js";

declare const assetBrand: unique symbol;
declare const archiveBrand: unique symbol;

/** The source of an asset's content. */
export type AssetSource = { readonly text: string } | { readonly path: string } | { readonly uri: string };

/** A text or file that is deployed with the program. */
export class Asset {
    declare protected readonly [assetBrand]: true;

    readonly source: AssetSource;

    private constructor(source: AssetSource) {
        this.source = Object.freeze(source);
        Object.freeze(this);
    }

    /** Returns an asset with the given text. */
    static fromText(text: string): Asset {
        return new Asset({ text: requireString(text, "text", true) });
    }

    /**
     * Returns an asset with the content of a file. Relative paths are resolved against the program's working
     * directory.
     */
    static fromFile(path: string): Asset {
        return new Asset({ path: requireString(path, "path") });
    }

    /** Returns an asset with the content at a URI, such as `https://example.com/logo.png` or `file:///srv/logo.png`. */
    static fromURI(uri: string): Asset {
        return new Asset({ uri: requireString(uri, "URI") });
    }
}

markInstances(Asset.prototype, "an asset");

/** The source of an archive's content. */
export type ArchiveSource =
    | { readonly assets: { readonly [path: string]: Asset | Archive } }
    | { readonly path: string }
    | { readonly uri: string };

/** A collection of files that is deployed with the program. */
export class Archive {
    declare protected readonly [archiveBrand]: true;

    readonly source: ArchiveSource;

    private constructor(source: ArchiveSource) {
        this.source = Object.freeze(source);
        Object.freeze(this);
    }

    /**
     * Returns an archive of assets and nested archives. A key is the path of a file in the archive, such as
     * `lib/util.js`, or of the folder that a nested archive is unpacked to.
     */
    static fromAssets(assets: { readonly [path: string]: Asset | Archive }): Archive {
        if (!isPlain(assets)) {
            throw new TypeError("the assets of an archive must be a plain object, with their paths as keys");
        }
        const entries = Object.entries(assets);
        for (const [path, content] of entries) {
            requireString(path, "path", true);
            if (!(content instanceof Asset || content instanceof Archive)) {
                throw new TypeError(`${JSON.stringify(path)} in an archive must be an asset or an archive`);
            }
        }
        checkNames(entries.map(([path, content]) => [path, content instanceof Asset]));
        // Object.fromEntries is safe for the key "__proto__". Assigning to it would set the prototype.
        return new Archive({ assets: Object.freeze(Object.fromEntries(entries)) });
    }

    /** Returns an archive with the files in a folder or in a `.zip`, `.tar`, or `.tar.gz` file. */
    static fromFile(path: string): Archive {
        return new Archive({ path: requireString(path, "path") });
    }

    /** Returns an archive with the files in the archive file at a URI. */
    static fromURI(uri: string): Archive {
        return new Archive({ uri: requireString(uri, "URI") });
    }
}

markInstances(Archive.prototype, "an archive");

function requireString(value: unknown, what: string, mayBeEmpty: boolean = false): string {
    if (typeof value !== "string") {
        const kind = typeof value === "object" ? "an object" : `a ${typeof value}`;
        const found = value === undefined || value === null ? value : kind;
        throw new TypeError(`the ${what} of an asset or archive must be a string, not ${found}`);
    }
    if (value === "" && !mayBeEmpty) {
        throw new TypeError(`the ${what} of an asset or archive must not be empty`);
    }
    if (!value.isWellFormed()) {
        throw new TypeError(`the ${what} of an asset or archive must be valid Unicode, without lone surrogates`);
    }
    return value;
}
