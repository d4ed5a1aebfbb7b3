#!/usr/bin/env bash
# Writes Token.hex, the creation code of Token.sol: solc 0.8.37 from npm, with the settings of solc.json.
set -euo pipefail
cd "$(dirname "$0")"
npx --yes --package solc@0.8.37 solcjs --standard-json --base-path . <solc.json | node -e '
  // the compiler writes a notice before its answer
  const said = require("fs").readFileSync(0, "utf8");
  const answer = JSON.parse(said.slice(said.indexOf("{")));
  if (answer.errors) throw new Error(JSON.stringify(answer.errors));
  console.log("0x" + answer.contracts["Token.sol"].Token.evm.bytecode.object);
' >Token.hex
