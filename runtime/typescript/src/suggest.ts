// Suggestions for mistyped names. The Go package internal/suggest implements the same algorithm. Its
// testdata/cases.json tests both implementations.

/** Returns a suggestion such as `; did you mean "vpc"?`, or an empty string if no candidate is near. */
export function didYouMean(found: string, candidates: readonly string[]): string {
    const near = nearest(found, candidates);
    return near === undefined ? "" : `; did you mean ${JSON.stringify(near)}?`;
}

/**
 * Returns the candidate with the smallest edit distance to the name, or `undefined` if none is near or several have the
 * same distance. Names are near if their distance is at most a third of the length of the shorter one, or at most 1 if
 * it has two characters. A single character is never near. Case is ignored.
 */
export function nearest(name: string, candidates: readonly string[]): string | undefined {
    // Skip candidates that are too short to be near, so that a very long name is cheap.
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

/** Returns the maximum distance at which names of the given lengths are near. */
function slips(a: number, b: number): number {
    const shorter = Math.min(a, b);
    return shorter < 2 ? 0 : Math.max(1, Math.floor(shorter / 3));
}

/** Splits a name into characters in lower case. A character that would become several characters is kept. */
function fold(name: string): readonly string[] {
    return Array.from(name, (character) => {
        const lower = character.toLowerCase();
        return lower.length === character.length ? lower : character;
    });
}

/** Returns the edit distance of two names. Edits are insertions, deletions, replacements, and swaps of neighbors. */
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
