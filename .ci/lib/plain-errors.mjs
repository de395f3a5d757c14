// Imported first by scripts that people run: an error becomes its message, without a stack trace.
process.on("uncaughtException", (error) => {
  console.error(process.env.THINK_DEBUG === undefined ? error.message : error);
  process.exit(1);
});
