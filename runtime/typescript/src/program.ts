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
     * From now on, whatever is constructed belongs to the evaluation. The graph says where each resource is constructed
     * if nameOf names the files. Throws a `TypeError` if the names make no URNs.
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

    /** From now on, constructors throw. Returns the graph, or throws an `EvaluationError` if the program makes none. */
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

    /** From now on, constructors throw. */
    abandon(): void {
        this.#ended = true;
    }
}

let running = false;

/**
 * Evaluates a program: runs a function, awaits what it returns, and returns the graph of the resources that were
 * constructed meanwhile. One program is evaluated at a time. Throws an `EvaluationError` if the program makes no graph,
 * whatever the function throws, and a `TypeError` for names that make no URNs.
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

