/** What the Worker tells of one use of a tool. No imports: both sides of the measurement compile it. */
export interface FileCost {
  readonly work: string;
  readonly statements: number;
  readonly rowsRead: number;
  readonly rowsWritten: number;
}
