// Finds what somebody meant who wrote a name that does not exist. The Go package internal/nearest has the same
// algorithm, and a table of cases that holds both to the same answers.

/** Returns a help such as `; did you mean "vpc"?`, or nothing where no candidate is near what was found. */
export function didYouMean(found: string, candidates: readonly string[]): string {
    const near = nearest(found, candidates);
    return near === undefined ? "" : `; did you mean ${JSON.stringify(near)}?`;
}

/**
 * Returns the candidate that the name was most probably meant to be, and `undefined` if none is near, or if several are
 * equally near. A name is near within one edit for every three characters of the shorter of both, and within one edit
 * in any case; a single character is never near. Letter case does not count.
 */
export function nearest(name: string, candidates: readonly string[]): string | undefined {
    // A name is never near one of a third of its units, so that a very long name takes no work.
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

/** Returns how many edits two names of some lengths may be apart. */
function slips(a: number, b: number): number {
    const shorter = Math.min(a, b);
    return shorter < 2 ? 0 : Math.max(1, Math.floor(shorter / 3));
}

/**
 * Splits a name into characters without their case. It takes those as they are whose lower case is more than one
 * character. A character may be two units of UTF-16, so the string itself has no use as a list.
 */
function fold(name: string): readonly string[] {
    return Array.from(name, (character) => {
        const lower = character.toLowerCase();
        return lower.length === character.length ? lower : character;
    });
}

/** Counts the characters to insert, delete, replace or swap with their neighbour to turn a into b. */
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
