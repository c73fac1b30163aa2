#!/bin/sh
# Applies the files of a module and reports the result to lumi-provisioner-git. Usage: pipeline.sh ENVIRONMENT MODULE, in a
# clone with the commit to apply checked out. This script is only a simulation: a real pipeline runs a tool instead of git
# hash-object.
set -eu
environment=$1 module=$2 commit=$(git rev-parse HEAD)

# report STATE OUTPUTS pushes ENVIRONMENT/MODULE.json to the branch lumi-status.
report() {
    blob=$(printf '{"commit": "%s", "state": "%s", "outputs": {%s}}\n' "$commit" "$1" "$2" | git hash-object -w --stdin)
    parent=$(git ls-remote origin refs/heads/lumi-status | cut -f1)
    test -z "$parent" || git fetch -q origin lumi-status
    tree=$(
        GIT_INDEX_FILE=$(git rev-parse --absolute-git-dir)/lumi-status.index
        export GIT_INDEX_FILE
        git read-tree "${parent:---empty}"
        git update-index --add --cacheinfo "100644,$blob,$environment/$module.json"
        git write-tree
    )
    # shellcheck disable=SC2086 # The option is two words or none.
    git push -q origin "$(git commit-tree "$tree" ${parent:+-p $parent} -m "$environment/$module: $1"):refs/heads/lumi-status"
}

report running ""
trap 'report failed ""' EXIT
outputs=
for file in "lumi/$environment/$module"/*.json; do
    test -e "$file" || continue
    hex=$(git hash-object "$file" | cut -c1-8)
    outputs="$outputs${outputs:+, }\"${file##*/}\": {\"hex\": \"$hex\"}"
done
trap - EXIT
report applied "$outputs"
