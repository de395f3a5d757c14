// Steps from the old-JavaScript bootstrap into the real scripts. A file of its own because `import()` does not
// parse on the oldest Nodes, and `bootstrap.cjs` must.
"use strict";

void import("./launch.mjs").then((launch) => launch.main(process.argv[2]));
