/** Where the CLI and the daemon keep things: one folder under SVC_HOME, or the XDG folders. */
export interface Home {
  /** `credentials.json`, mode 0600: the stored key of each profile and its gateway. */
  readonly credentialsFile: string;
  /** What a running daemon says of itself. */
  readonly daemonFile: string;
  readonly lockFile: string;
  readonly logFile: string;
  readonly socketPath: string;
  /** Databases and blobs of local mode. */
  readonly dataFolder: string;
  /** The newest ledger head this machine has seen, by project. */
  readonly ledgerHeadsFile: string;
}
