/** A place in a source file. Lines and columns count from 1. */
export interface Position {
    readonly file: string;
    readonly line: number;
    readonly column: number;
}

// Where this package lies, since its own frames say nothing about a program.
const own = ["dist/", "src/"].map((folder) => toPath(new URL(`../${folder}`, import.meta.url).href));

/** Whose code a file has. Tsx runs programs as Node does. */
function isOurs(file: string): boolean {
    return own.some((folder) => file.startsWith(folder)) || /[\\/]node_modules[\\/]tsx[\\/]/.test(file);
}

function isPackaged(file: string): boolean {
    return /[\\/]node_modules[\\/]/.test(file);
}

/** Finds the place in a program that a stack tells of: the innermost one that is not in a package or in Node. */
export function positionOf(stack: string | undefined): Position | undefined {
    return positionsOf(stack)[0];
}

/**
 * Finds the places in a program that a stack tells of, innermost first. If there are none but in packages, it returns
 * those.
 */
export function positionsOf(stack: string | undefined): readonly Position[] {
    const positions = (stack ?? "").split("\n").flatMap((line) => parseFrame(line) ?? []);
    const others = positions.filter(({ file }) => !isOurs(file));
    const written = others.filter(({ file }) => !isPackaged(file));
    return written.length > 0 ? written : others;
}

/** Whether a file, by the name that V8 has for it, is of the program itself. */
const written = new Map<string, boolean>();

/** Positions in a program by those in the code that runs. */
const positions = new Map<string, Position | undefined>();

/**
 * Finds where a function was called, as `positionOf` does. The function is the outermost one that is left out. Programs
 * construct many resources in few places, and Node takes long to format a stack, so it does that once for each place.
 */
export function callerOf(callee: Function): Position | undefined {
    const key = keyOf(callee);
    if (!positions.has(key)) {
        positions.set(key, positionOf(capture(callee, undefined)));
    }
    return positions.get(key);
}

/** Returns what tells the place where a function was called from others. */
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
 * Captures the stack where a function was called: what prepare makes of it, or a text, whatever the program itself does
 * with stacks. Only V8 can do that.
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
        return target.stack; // Prepared when it is read.
    } finally {
        V8.prepareStackTrace = before!;
    }
}

/** Reads a line of a stack, such as `at f (/app/main.ts:3:14)`. */
function parseFrame(line: string): Position | undefined {
    const match = /^\s+at (?:(?:.*? \()(?<named>.+)\)|(?:async )?(?<bare>.+))$/.exec(line);
    const place = /^(.+):(\d+):(\d+)$/.exec(match?.groups?.["named"] ?? match?.groups?.["bare"] ?? "");
    if (place === null || !isFile(place[1]!)) {
        return undefined;
    }
    return { file: toPath(place[1]!), line: Number(place[2]), column: Number(place[3]) };
}

/** Reports whether a frame is in a file. Others, such as node:fs and <anonymous>, are in none. */
function isFile(name: string): boolean {
    return /^(?:\/|file:\/\/|[A-Za-z]:\\|\\\\)/.test(name);
}

/** Turns the address of a file into its path. */
function toPath(file: string): string {
    if (!file.startsWith("file://")) {
        return file;
    }
    const path = decodeURIComponent(new URL(file).pathname);
    return /^\/[A-Za-z]:/.test(path) ? path.slice(1).replaceAll("/", "\\") : path;
}
