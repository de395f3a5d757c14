// First file of `npm start` and `npm test`. Written in old JavaScript on purpose: it must still parse on a
// Node that is too old, so that such a machine gets one clear sentence and no syntax error.
"use strict";

var major = Number(process.versions.node.split(".")[0]);

if (major < 18) {
  console.error(
    "Think needs Node 18 or newer, and this is Node " +
      process.versions.node +
      ": install a current Node (for example 22 or 24) and run the command again."
  );
  process.exitCode = 1;
} else {
  require("./lib/enter.cjs");
}
