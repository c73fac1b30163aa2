/** A topological order and the cycles that violate it. */
export interface Order {
    /** All vertices, each after its dependencies, except within cycles. */
    readonly sequence: readonly number[];
    /** The cycles. In a cycle, each vertex depends on the next, and the last on the first. */
    readonly circles: readonly (readonly number[])[];
}

/**
 * Sorts vertices topologically. Vertices are numbered from 0, and `dependencies[i]` is the set of vertices that vertex
 * i depends on. The order is deterministic: of the vertices that could be next, the smallest is.
 */
export function order(dependencies: readonly ReadonlySet<number>[]): Order {
    const dependents = dependencies.map((): number[] => []);
    const missing = dependencies.map((on, i) => {
        on.forEach((j) => dependents[j]!.push(i));
        return on.size;
    });
    const ready = new Heap();
    missing.forEach((count, i) => count === 0 && ready.push(i));
    const sequence: number[] = [];
    const circles: number[][] = [];
    const done = dependencies.map(() => false);
    for (let next = 0; ; ) {
        const i = ready.pop();
        if (i !== undefined) {
            done[i] = true;
            sequence.push(i);
            dependents[i]!.forEach((j) => --missing[j]! === 0 && !done[j] && ready.push(j));
            continue;
        }
        while (done[next]) {
            next++;
        }
        if (next === dependencies.length) {
            return { sequence, circles };
        }
        // All remaining vertices are in a cycle or depend on one. Mark the vertices of a cycle as done to continue.
        const circle = findCircle(dependencies, done, next);
        circles.push(circle);
        for (const j of circle) {
            done[j] = true;
            missing[j] = 0;
            ready.push(j);
        }
    }
}

/** Returns a cycle, found by following pending dependencies. It starts with its smallest vertex. */
function findCircle(dependencies: readonly ReadonlySet<number>[], done: readonly boolean[], start: number): number[] {
    const path: number[] = [];
    const at = new Map<number, number>();
    let i = start;
    while (!at.has(i)) {
        at.set(i, path.length);
        path.push(i);
        i = [...dependencies[i]!].find((j) => !done[j])!;
    }
    const circle = path.slice(at.get(i));
    const first = circle.indexOf(circle.reduce((a, b) => Math.min(a, b)));
    return [...circle.slice(first), ...circle.slice(0, first)];
}

/** A min-heap of numbers. */
class Heap {
    readonly #items: number[] = [];

    push(item: number): void {
        const items = this.#items;
        let i = items.push(item) - 1;
        for (let up = (i - 1) >> 1; i > 0 && items[up]! > item; up = (i - 1) >> 1) {
            items[i] = items[up]!;
            i = up;
        }
        items[i] = item;
    }

    pop(): number | undefined {
        const items = this.#items;
        const smallest = items[0];
        const item = items.pop();
        if (item === undefined || items.length === 0) {
            return smallest;
        }
        let i = 0;
        for (let down = 1; down < items.length; down = 2 * i + 1) {
            if (down + 1 < items.length && items[down + 1]! < items[down]!) {
                down++;
            }
            if (items[down]! >= item) {
                break;
            }
            items[i] = items[down]!;
            i = down;
        }
        items[i] = item;
        return smallest;
    }
}
