/** Files imported as text, for tests that compare documentation with code that runs. */
declare module "*?raw" {
  const text: string;
  export default text;
}
