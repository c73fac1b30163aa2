/** The maximum length of a path on Linux, in bytes. */
const maxName = 4096;

/** The maximum length of a name in a message. */
const maxShown = 400;

/** The files and folders of an archive, by path. */
type Taken = Map<string, "file" | "folder">;

/**
 * Throws a `TypeError` if names of files and nested archives in an archive are invalid or collide. Providers check
 * archives from all sources, with the same messages.
 */
export function checkNames(entries: readonly (readonly [name: string, isFile: boolean])[]): void {
    const taken: Taken = new Map();
    for (const [given, isFile] of entries) {
        const name = clean(given);
        const before = taken.get(name);
        if (isFile && before !== undefined) {
            throw new TypeError(
                `${quote(name)}: ${before === "file" ? "appears twice in the archive" : "is both a file and a folder in the archive"}`,
            );
        }
        if (isFile) {
            taken.set(name, "file");
        }
        addFolders(taken, isFile ? parent(name) : name);
    }
}

/** Records a folder and its parents. Throws a `TypeError` if one of them is a file. */
function addFolders(taken: Taken, folder: string): void {
    for (let name = folder; name !== ""; name = parent(name)) {
        if (taken.get(name) === "file") {
            throw new TypeError(`${quote(name)}: is both a file and a folder in the archive`);
        }
        taken.set(name, "folder");
    }
}

function parent(name: string): string {
    return name.slice(0, Math.max(name.lastIndexOf("/"), 0));
}

/** Returns a name without its "." elements. Throws a `TypeError` if the name is invalid. */
function clean(name: string): string {
    const parts = name.split("/").filter((part) => part !== ".");
    const why = problem(name) ?? (parts.length === 0 ? "it is the archive itself" : undefined);
    if (why !== undefined) {
        throw new TypeError(`${quote(name)}: is not a valid name in an archive: ${why}`);
    }
    return parts.join("/");
}

function problem(name: string): string | undefined {
    if (name === "") {
        return "it is empty";
    }
    if (Buffer.byteLength(name) > maxName) {
        return "it is longer than 4096 bytes";
    }
    if (name.includes("\0")) {
        return "it contains a NUL character";
    }
    if (name.includes("\\")) {
        return "it contains a backslash";
    }
    if (name.startsWith("/")) {
        return "it is absolute";
    }
    if (/^[a-z]:/i.test(name)) {
        return "it starts with a drive letter";
    }
    for (const part of name.split("/")) {
        if (part === "") {
            return "it contains an empty element";
        }
        if (part === "..") {
            return 'it contains ".."';
        }
    }
    return undefined;
}

function quote(name: string): string {
    return JSON.stringify(name.length > maxShown ? `${name.slice(0, maxShown)}…` : name);
}
