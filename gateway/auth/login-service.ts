import type { LoginState } from '../store/control/login-state.ts';

/** A sign-in as the person sees it who opens the mailed link. */
export interface LoginView {
  readonly state: LoginState;
  /** Such as `ENJOY-RIVER-42`. Only the terminal shows it while the sign-in waits. */
  readonly userCode: string;
  /** As `a***@example.com`. */
  readonly email: string;
  readonly client: LoginClient;
  readonly createdAt: number;
  readonly expiresAt: number;
  /** How often the person may still type a code. */
  readonly codesLeft: number;
  /** The time of the gateway. */
  readonly now: number;
}

/** The client that started a sign-in. Everything but the address is its own claim, so show it as plain text. */
export interface LoginClient {
  readonly name: string | null;
  readonly version: string | null;
  readonly host: string | null;
  readonly userAgent: string | null;
  /** Its network address, if known. */
  readonly address: string;
}

/** Serves the links of sign-ins. An unknown token gives null; opening never confirms. */
export interface LoginService {
  open(token: string): Promise<LoginView | null>;
  /**
   * Confirms a waiting sign-in with the code that its terminal shows: the client that started it is signed in. With another
   * code it stays as it is, and is denied after the second one.
   */
  confirm(token: string, code: string): Promise<LoginView | null>;
  /** Denies a waiting sign-in. */
  deny(token: string): Promise<LoginView | null>;
}
