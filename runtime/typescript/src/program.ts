import { type FileName, type Graph, buildGraph } from "./graph.js";
import { type Names, nameProblem } from "./names.js";
import { EvaluationError } from "./problem.js";
import {
    type Configured,
    type Construction,
    type Provided,
    type Recorder,
    type Used,
    protocol,
    setRecorder,
} from "./recorder.js";

/** The evaluation of one program. */
export class Evaluation implements Recorder {
    readonly protocol: number = protocol;
    readonly #names: Names;
    readonly #nameOf: FileName | undefined;
    readonly #constructions: Construction[] = [];
    readonly #configurations: Configured[] = [];
    readonly #provided: Provided[] = [];
    readonly #used: Used[] = [];
    #ended = false;

    /**
     * Starts an evaluation and makes it the current recorder, so that it records all resources constructed from now on.
     * The graph includes their positions if `nameOf` is given. Throws a `TypeError` if the names are invalid.
     */
    constructor(names: Names, nameOf?: FileName) {
        const problem = nameProblem(names);
        if (problem !== undefined) {
            throw new TypeError(problem);
        }
        this.#names = { ...names };
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
        this.#ended = true;
        const { graph, problems } = buildGraph(
            this.#names,
            this.#constructions,
            this.#configurations,
            { provided: this.#provided, used: this.#used },
            this.#nameOf,
        );
        if (problems.length > 0) {
            throw new EvaluationError(problems);
        }
        return graph;
    }

    /** Ends the evaluation without a graph. */
    abandon(): void {
        this.#ended = true;
    }
}

let running = false;

/**
 * Evaluates a program: calls a function, awaits its result, and returns the graph of the resources that it constructed.
 * Only one program can be evaluated at a time. Throws an `EvaluationError` if the program has errors, a `TypeError` if
 * the names are invalid, and any error thrown by the function.
 */
export async function evaluateProgram(names: Names, program: () => unknown): Promise<Graph> {
    if (running) {
        throw new Error("another program is being evaluated; await that first");
    }
    running = true;
    try {
        const evaluation = new Evaluation(names);
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

