/** A position in a source file. Lines and columns start at 1. */
export interface Position {
    readonly file: string;
    readonly line: number;
    readonly column: number;
}

// The folders of this package. Stack frames in them are skipped.
const own = ["dist/", "src/"].map((folder) => toPath(new URL(`../${folder}`, import.meta.url).href));

/** Reports whether a file belongs to this package or to tsx, which runs programs for Node. */
function isOurs(file: string): boolean {
    return own.some((folder) => file.startsWith(folder)) || /[\\/]node_modules[\\/]tsx[\\/]/.test(file);
}

function isPackaged(file: string): boolean {
    return /[\\/]node_modules[\\/]/.test(file);
}

/** Returns the innermost position of the program in a stack. See `positionsOf`. */
export function positionOf(stack: string | undefined): Position | undefined {
    return positionsOf(stack)[0];
}

/**
 * Returns the positions in a stack that are in the program rather than in Node or packages, innermost first. If there
 * are none, returns the positions in packages.
 */
export function positionsOf(stack: string | undefined): readonly Position[] {
    const positions = (stack ?? "").split("\n").flatMap((line) => parseFrame(line) ?? []);
    const others = positions.filter(({ file }) => !isOurs(file));
    const written = others.filter(({ file }) => !isPackaged(file));
    return written.length > 0 ? written : others;
}

/** A cache of whether files belong to the program itself, by V8's file names. */
const written = new Map<string, boolean>();

/** A cache of source positions, by the key of the stack. */
const positions = new Map<string, Position | undefined>();

/**
 * Returns the position at which the program called a function. Frames of the function and its callees are skipped.
 * Since formatting a stack is slow in Node, and programs construct many resources in few places, results are cached.
 */
export function callerOf(callee: Function): Position | undefined {
    const key = keyOf(callee);
    if (!positions.has(key)) {
        positions.set(key, positionOf(capture(callee, undefined)));
    }
    return positions.get(key);
}

/** Returns a cache key for the position at which a function was called. */
function keyOf(callee: Function): string {
    let key = "";
    for (const frame of capture(callee, (_: unknown, frames: readonly NodeJS.CallSite[]) => frames) ?? []) {
        const name = frame.getFileName() ?? "";
        let known = written.get(name);
        if (known === undefined) {
            const file = isFile(name) ? toPath(name) : undefined;
            known = file !== undefined && !isOurs(file) && !isPackaged(file);
            written.set(name, known);
        }
        key += `${name}:${frame.getLineNumber()}:${frame.getColumnNumber()}\n`;
        if (known) {
            break;
        }
    }
    return key;
}

/**
 * Returns the stack at the call of a function, as converted by `prepare` or as text. It ignores the program's own
 * `Error.prepareStackTrace`. Returns `undefined` in engines other than V8.
 */
function capture<Stack = string>(
    callee: Function,
    prepare: ((_: Error, frames: NodeJS.CallSite[]) => Stack) | undefined,
): Stack | undefined {
    const V8 = Error as {
        prepareStackTrace?: typeof prepare;
        captureStackTrace?: (target: object, callee: Function) => void;
    };
    const before = V8.prepareStackTrace;
    const target: { stack?: Stack } = {};
    try {
        V8.prepareStackTrace = prepare!;
        V8.captureStackTrace?.(target, callee);
        return target.stack; // calls prepare
    } finally {
        V8.prepareStackTrace = before!;
    }
}

/** Returns the position in a line of a stack, such as `at f (/app/main.ts:3:14)`, or `undefined` if it has no file. */
function parseFrame(line: string): Position | undefined {
    const match = /^\s+at (?:(?:.*? \()(?<named>.+)\)|(?:async )?(?<bare>.+))$/.exec(line);
    const place = /^(.+):(\d+):(\d+)$/.exec(match?.groups?.["named"] ?? match?.groups?.["bare"] ?? "");
    if (place === null || !isFile(place[1]!)) {
        return undefined;
    }
    return { file: toPath(place[1]!), line: Number(place[2]), column: Number(place[3]) };
}

/** Reports whether the name of a frame is a file, rather than node:fs or <anonymous>. */
function isFile(name: string): boolean {
    return /^(?:\/|file:\/\/|[A-Za-z]:\\|\\\\)/.test(name);
}

/** Converts a file URL to a path. Returns paths unchanged. */
function toPath(file: string): string {
    if (!file.startsWith("file://")) {
        return file;
    }
    const path = decodeURIComponent(new URL(file).pathname);
    return /^\/[A-Za-z]:/.test(path) ? path.slice(1).replaceAll("/", "\\") : path;
}
