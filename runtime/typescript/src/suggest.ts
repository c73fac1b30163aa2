// Suggests an existing name for a mistyped one. The Go package internal/suggest implements the same algorithm; its
// testdata/cases.json is the test table of both.

/** Returns a suggestion such as `; did you mean "vpc"?`, or an empty string if no candidate is near. */
export function didYouMean(found: string, candidates: readonly string[]): string {
    const near = nearest(found, candidates);
    return near === undefined ? "" : `; did you mean ${JSON.stringify(near)}?`;
}

/**
 * Returns the candidate nearest to the name, or `undefined` if none is near or several are equally near. Two names are
 * near if they are within one edit for every three characters of the shorter one, and at least one. A single character
 * is never near. Letter case is ignored.
 */
export function nearest(name: string, candidates: readonly string[]): string | undefined {
    // Leave out candidates that are too short to be near, so that a very long name takes no work.
    const possible = candidates.filter((candidate) => name.length <= 3 * candidate.length);
    const folded = possible.length === 0 ? [] : fold(name);
    let found: string | undefined;
    let tie = false;
    let least = Infinity;
    for (const candidate of new Set(possible)) {
        const other = fold(candidate);
        const most = Math.min(least, slips(folded.length, other.length));
        const edits = Math.abs(folded.length - other.length) > most ? Infinity : distance(folded, other);
        if (edits <= most) {
            tie = edits === least;
            least = edits;
            found = candidate;
        }
    }
    return tie ? undefined : found;
}

/** Returns the largest distance at which names of the given lengths are near. */
function slips(a: number, b: number): number {
    const shorter = Math.min(a, b);
    return shorter < 2 ? 0 : Math.max(1, Math.floor(shorter / 3));
}

/** Splits a name into lower-case characters, not UTF-16 units. A character whose lower case is longer is kept. */
function fold(name: string): readonly string[] {
    return Array.from(name, (character) => {
        const lower = character.toLowerCase();
        return lower.length === character.length ? lower : character;
    });
}

/** Counts the characters to insert, delete, replace, or swap with their neighbor to turn a into b. */
function distance(a: readonly string[], b: readonly string[]): number {
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
