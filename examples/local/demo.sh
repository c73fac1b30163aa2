#!/bin/sh
# Deploys the program site in a temporary folder. 'make demo' runs this script. Usage: demo.sh COMMANDS PACKAGE, where
# COMMANDS is the folder of lumi and lumi-resource-local, and PACKAGE is the folder of the built npm package.
set -eu
commands=$(cd "$1" && pwd) package=$(cd "$2" && pwd)
cd "$(dirname "$0")"
demo=$(mktemp -d "${TMPDIR:-/tmp}/lumi-demo-XXXXXX")

# Install the dependencies that npm would install, without network access.
mkdir -p "$demo/node_modules/@lumi" "$demo/node_modules/.bin" "$demo/programs/site"
ln -s "$package" "$demo/node_modules/@lumi/lumi"
ln -s "$package/node_modules/tsx" "$demo/node_modules/tsx"
ln -s "$package/dist/bin/lumi-program.js" "$demo/node_modules/.bin/lumi-program"
chmod +x "$package/dist/bin/lumi-program.js"
cp -R pack package.json "$demo"
cp programs/Lumi.yaml "$demo/programs"
cp programs/site/main.ts "$demo/programs/site"

cd "$demo/programs"
LUMI_PASSPHRASE=demo "$commands/lumi" deploy --yes
cat <<EOF

$demo/programs now contains:

$(find site -type f ! -name main.ts | sort | sed 's/^/    /')

The state in .lumi contains the password, encrypted with the passphrase. Change site/main.ts and deploy again, or destroy everything:

    export PATH='$commands':\$PATH LUMI_PASSPHRASE=demo
    cd '$demo/programs'
    lumi deploy
    lumi destroy
    rm -r '$demo'
EOF
