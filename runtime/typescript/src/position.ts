/** A place in a source file. Lines and columns count from 1. */
export interface Position {
    readonly file: string;
    readonly line: number;
    readonly column: number;
}

// Where this package lies, since its own frames say nothing about a program.
const own = ["dist/", "src/"].map((folder) => toPath(new URL(`../${folder}`, import.meta.url).href));

/** Finds the place in a program that a stack tells of: the innermost one that is not in a package or in Node. */
export function positionOf(stack: string | undefined): Position | undefined {
    return positionsOf(stack)[0];
}

/**
 * Finds the places in a program that a stack tells of, innermost first. If there are none but in packages, it returns
 * those, but for tsx, which runs programs as Node does.
 */
export function positionsOf(stack: string | undefined): readonly Position[] {
    const positions = (stack ?? "").split("\n").flatMap((line) => parseFrame(line) ?? []);
    const others = positions.filter(
        ({ file }) => !own.some((folder) => file.startsWith(folder)) && !/[\\/]node_modules[\\/]tsx[\\/]/.test(file),
    );
    const written = others.filter(({ file }) => !/[\\/]node_modules[\\/]/.test(file));
    return written.length > 0 ? written : others;
}

/** Reads a line of a stack, such as `at f (/app/main.ts:3:14)`. */
function parseFrame(line: string): Position | undefined {
    const match = /^\s+at (?:(?:.*? \()(?<named>.+)\)|(?:async )?(?<bare>.+))$/.exec(line);
    const place = /^(.+):(\d+):(\d+)$/.exec(match?.groups?.["named"] ?? match?.groups?.["bare"] ?? "");
    // Others, such as node:fs and <anonymous>, are in no file.
    if (place === null || !/^(?:\/|file:\/\/|[A-Za-z]:\\|\\\\)/.test(place[1]!)) {
        return undefined;
    }
    return { file: toPath(place[1]!), line: Number(place[2]), column: Number(place[3]) };
}

/** Turns the address of a file into its path. */
function toPath(file: string): string {
    if (!file.startsWith("file://")) {
        return file;
    }
    const path = decodeURIComponent(new URL(file).pathname);
    return /^\/[A-Za-z]:/.test(path) ? path.slice(1).replaceAll("/", "\\") : path;
}
