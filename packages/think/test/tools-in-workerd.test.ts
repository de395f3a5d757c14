/**
 * The tests of the workspace, bash and think tools once more, in the runtime they are for: the shell, text decoding, streams and timers of
 * workerd are not those of Node.
 */
import "../src/tools/workspace/bad-input.test";
import "../src/tools/workspace/bash-surprises.test";
import "../src/tools/workspace/bash-write-back.test";
import "../src/tools/workspace/bash.test";
import "../src/tools/workspace/file-tools.test";
import "../src/tools/think/think-tool.test";
import "../src/workspace/glob.test";
