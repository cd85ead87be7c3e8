/** The part of the package that svc uses. */
declare module 'jq-wasm' {
  export interface Jq {
    /** Returns jq's output without its last line feed, and doesn't throw if jq fails. */
    raw(
      input: string,
      query: string,
      flags: readonly string[],
    ): { readonly stdout: string; readonly stderr: string; readonly exitCode: number };
  }
  export function loadJq(): Promise<Jq>;
}
