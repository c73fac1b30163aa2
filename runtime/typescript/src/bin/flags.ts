import { parseArgs } from "node:util";

import { Failure, messageOf } from "./failure.js";

/** What the command line asks for. */
export interface Flags {
    readonly help: boolean;
    readonly version: boolean;
    readonly environment: string | undefined;
    readonly package: string | undefined;
    readonly module: string | undefined;
    /** The file that the graph is written to, `-` for standard output. */
    readonly out: string;
    /** The program and the arguments that are its own. */
    readonly command: readonly string[];
}

export const usage = `lumi-program runs a program and prints the graph of the resources that it constructs.

Usage: lumi-program [flags] PROGRAM [ARGUMENT …]

PROGRAM is a .js or .ts file. Node runs the first by itself. The second needs tsx among the packages of your project
(npm install --save-dev tsx); or compile it with tsc, and name the .js file that tsc writes.
What follows PROGRAM is for the program, which finds it in process.argv.

Flags:
  --environment=NAME  what the graph is for, such as prod
  --package=NAME      the package that the program belongs to, such as my/cluster
  --module=NAME       the program's module in that package (default index)
  --out=FILE          where the graph is written to (default -, which is standard output)
  --help              print this
  --version           print the version

Names that no flag gives come from the nearest Lumi.yaml, in the program's folder or above:

  package: my/cluster
  environment: dev

The graph is LumiGL. The same program makes the same bytes. What the program itself prints goes to standard error.

Exit codes: 0 the graph is written; 1 the program is wrong; 2 wrong use, or the system failed, or Ctrl-C.

Example:
  lumi-program --environment=prod main.ts > graph.json
`;

/** Parses the command line. Throws a `Failure` if it is wrong. */
export function parseFlags(args: readonly string[]): Flags {
    const end = programIndex(args);
    try {
        const { values } = parseArgs({
            args: args.slice(0, end),
            options: {
                help: { type: "boolean", short: "h" },
                version: { type: "boolean" },
                environment: { type: "string" },
                package: { type: "string" },
                module: { type: "string" },
                out: { type: "string" },
            },
        });
        return {
            help: values.help ?? false,
            version: values.version ?? false,
            environment: values.environment,
            package: values.package,
            module: values.module,
            out: values.out ?? "-",
            command: args.slice(args[end] === "--" ? end + 1 : end),
        };
    } catch (error) {
        throw new Failure(`${messageOf(error)}\nRun "lumi-program --help" for the flags.`);
    }
}

/** Finds where the flags end: at the first argument that is none and no flag's value. */
function programIndex(args: readonly string[]): number {
    for (let i = 0; i < args.length; i++) {
        const arg = args[i]!;
        if (arg === "--" || !arg.startsWith("-")) {
            return i;
        }
        if (/^--(environment|package|module|out)$/.test(arg)) {
            i++;
        }
    }
    return args.length;
}
