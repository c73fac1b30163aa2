/** The length of a path that Linux takes, in bytes. */
const longestName = 4096;

/** How much of a name a message shows. */
const mostShown = 400;

/** Where the files and folders of an archive would be, by what would be there. */
type Taken = Map<string, "file" | "folder">;

/**
 * Says what is wrong with the names of the files and of the archives that an archive is put together from. Providers say
 * the same in the same words, since archives may also come from elsewhere.
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

/** Takes account of a folder, and of those that it is in. */
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

/** Makes a name of parts between slashes, none of them "." or "..". */
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
    if (Buffer.byteLength(name) > longestName) {
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
    return JSON.stringify(name.length > mostShown ? `${name.slice(0, mostShown)}…` : name);
}
