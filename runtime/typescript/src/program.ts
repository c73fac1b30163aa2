import { type FileName, type Graph, buildGraph } from "./graph.js";
import { type Names, nameProblem } from "./names.js";
import { open } from "./output.js";
import type { Position } from "./position.js";
import { EvaluationError, inOrder } from "./problem.js";
import {
    type Configured,
    type Construction,
    type Provided,
    type Recorder,
    type Setting,
    type Used,
    announce,
    protocol,
    setRecorder,
} from "./recorder.js";
import type { Properties } from "./shape.js";

/** The positions of the configurations of providers in Lumi.yaml, by package. */
export type Providers = { readonly [pkg: string]: Position };

/** The evaluation of one program. */
export class Evaluation implements Recorder {
    readonly protocol: number = protocol;
    readonly names: Names;
    readonly settings: readonly Setting[] | undefined;
    declared: object | undefined;
    readonly #providers: Providers;
    readonly #nameOf: FileName | undefined;
    readonly #constructions: Construction[] = [];
    readonly #configurations: Configured[] = [];
    readonly #provided: Provided[] = [];
    readonly #used: Used[] = [];
    #ended = false;

    /**
     * Starts an evaluation and makes it the current recorder, so that it records all resources constructed from now on.
     * The graph includes their positions if `nameOf` is given. Throws a `TypeError` if the names are invalid.
     * `providers` are configured in Lumi.yaml, so the program must not configure them.
     */
    constructor(names: Names, settings: readonly Setting[] | undefined, providers: Providers = {}, nameOf?: FileName) {
        const problem = nameProblem(names);
        if (problem !== undefined) {
            throw new TypeError(problem);
        }
        this.names = { ...names };
        this.settings = settings;
        this.#providers = providers;
        this.#nameOf = nameOf;
        setRecorder(this);
    }

    get ended(): boolean {
        return this.#ended;
    }

    construct(construction: Construction): void {
        this.#constructions.push(construction);
    }

    configure(configured: Configured): void {
        this.#configurations.push(configured);
    }

    provide(provided: Provided): void {
        this.#provided.push(provided);
    }

    use(used: Used): void {
        this.#used.push(used);
    }

    /**
     * Ends the evaluation and returns the graph. Constructing a resource afterward throws an error. Throws an
     * `EvaluationError` if the program has errors.
     */
    end(): Graph {
        this.abandon();
        const { graph, problems } = buildGraph(
            this.names,
            this.#constructions,
            { config: this.declared, configurations: this.#configurations, providers: this.#providers },
            { provided: this.#provided, used: this.#used },
            this.#nameOf,
        );
        const undeclared = this.declared === undefined ? this.settings?.filter(({ own }) => own) : undefined;
        problems.push(...inOrder((undeclared ?? []).map((setting) => ({
            message: `${setting.key}: the program declares no configuration; declare it with lumi.config`,
            position: setting.file === undefined ? undefined : (setting as Position),
        }))));
        if (problems.length > 0) {
            throw new EvaluationError(problems);
        }
        return graph;
    }

    /** Ends the evaluation without a graph. */
    abandon(): void {
        this.#ended = true;
        announce();
    }
}

let running = false;

/**
 * Evaluates a program: calls a function, awaits its result, and returns the graph of the resources that it constructed.
 * Only one program can be evaluated at a time. `config` contains the configuration of the program, in which outputs
 * with a value, such as `lumi.secret("…")`, are secrets. Throws an `EvaluationError` if the program has errors, a
 * `TypeError` if the names are invalid, and any error thrown by the function.
 */
export async function evaluateProgram(
    names: Names,
    program: () => unknown,
    { config = {} }: { readonly config?: Properties } = {},
): Promise<Graph> {
    if (running) {
        throw new Error("another program is being evaluated; await that first");
    }
    running = true;
    try {
        const settings = Object.entries(config).map(([key, given]) => {
            const { content: value, secret } = open(given);
            return { key, value, own: true, secret };
        });
        const evaluation = new Evaluation(names, settings);
        try {
            await program();
        } catch (error) {
            evaluation.abandon();
            throw error;
        }
        return evaluation.end();
    } finally {
        running = false;
    }
}

