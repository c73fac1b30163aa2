/** The parts of a URN that are the same for all resources of a program. */
export interface Names {
    /** The environment that the program is evaluated for, such as `prod`. */
    readonly environment: string;
    /** The program's package, such as `my/cluster`. */
    readonly package: string;
    /** The program's module. The default is `index`. */
    readonly module?: string | undefined;
}

const word = /^[^\s:\p{C}\ufffd]+$/u;
const packageName = /^[a-z][a-z0-9_-]*(\/[a-z][a-z0-9_-]*)*$/;
const folder = /^[^\s:\\/\p{C}\ufffd]+$/u;

/** Returns an error message if the names are invalid, or `undefined`. */
export function nameProblem({ environment, package: pkg, module = "index" }: Names): string | undefined {
    if (!word.test(environment)) {
        return `environment ${JSON.stringify(environment)}: must be a word without colons or spaces`;
    }
    const problem = packageProblem(pkg);
    if (problem !== undefined) {
        return problem;
    }
    if (!module.split("/").every((part) => folder.test(part) && part !== "." && part !== "..")) {
        return `module ${JSON.stringify(module)}: must be folder names joined by /`;
    }
    return undefined;
}

/** Returns an error message if the package name is invalid, or `undefined`. */
export function packageProblem(pkg: string): string | undefined {
    return packageName.test(pkg)
        ? undefined
        : `package ${JSON.stringify(pkg)}: must be words joined by /, each a lowercase letter followed by ` +
              "lowercase letters, digits, -, or _";
}

/** Returns the URN of a resource. */
export function formatURN({ environment, package: pkg, module = "index" }: Names, type: string, name: string): string {
    return `urn:lumi:${environment}::${pkg}:${module}::${type}::${name}`;
}

/** Reports whether a string is a resource's URN. */
export function isURN(text: string): boolean {
    const parts = /^urn:lumi:([^:]+)::([^:]+):([^:]+)::[^:\s]+:[^:\s]+:[^:\s]+::\P{Cc}+$/u.exec(text);
    return (
        parts !== null &&
        nameProblem({ environment: parts[1]!, package: parts[2]!, module: parts[3]! }) === undefined
    );
}

/** Compares strings by their UTF-8 bytes, like Go. */
export function compare(a: string, b: string): number {
    const length = Math.min(a.length, b.length);
    for (let i = 0; i < length; i++) {
        const [x, y] = [a.charCodeAt(i), b.charCodeAt(i)];
        if (x !== y) {
            // Characters represented by surrogates are larger than all others.
            return rank(x) - rank(y);
        }
    }
    return a.length - b.length;
}

function rank(unit: number): number {
    return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}
