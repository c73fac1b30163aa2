/** Returns a help such as `; did you mean "vpc"?`, or nothing where no candidate is near what was found. */
export function didYouMean(found: string, candidates: readonly string[]): string {
    const near = nearest(found, candidates);
    return near === undefined ? "" : `; did you mean ${JSON.stringify(near)}?`;
}

/** Returns the candidate that takes the fewest edits to reach, if it takes few for the length of the word. */
export function nearest(found: string, candidates: readonly string[]): string | undefined {
    const word = found.toLowerCase();
    let best: string | undefined;
    let fewest = Math.min(Math.floor(word.length / 3), 3) + 1;
    for (const candidate of candidates) {
        // Distances are at least the difference in length; this also bounds the work on a very long word.
        if (Math.abs(candidate.length - word.length) < fewest) {
            const edits = distance(word, candidate.toLowerCase());
            if (edits < fewest) {
                [best, fewest] = [candidate, edits];
            }
        }
    }
    return best;
}

/** Counts the characters to insert, delete, replace or swap with their neighbour to make a into b. */
function distance(a: string, b: string): number {
    let beforeLast: number[] = [];
    let last = Array.from({ length: b.length + 1 }, (_, j) => j);
    for (let i = 1; i <= a.length; i++) {
        const row = [i];
        for (let j = 1; j <= b.length; j++) {
            const replaced = last[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
            let edits = Math.min(replaced, last[j]! + 1, row[j - 1]! + 1);
            if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
                edits = Math.min(edits, beforeLast[j - 2]! + 1);
            }
            row.push(edits);
        }
        [beforeLast, last] = [last, row];
    }
    return last[b.length]!;
}
