import type { Tx, Writer } from '../../../shared/store/engine/driver.ts';

/** Messages of a project, on a UTC day such as `2026-01-31`. */
interface MailUse {
  readonly projectId: string;
  readonly messages: number;
  readonly day: string;
}

/** The most messages a day; 0: no limit. */
export interface MailLimits {
  /** For all projects of an account together. */
  readonly account: number;
  /** For all projects together. */
  readonly gateway: number;
}

/** The limit in the way, and how much of it is used. */
export interface MailLimitExcess {
  readonly of: 'account' | 'gateway';
  readonly limit: number;
  readonly used: number;
}

const GATEWAY = 'gateway';

/** How many messages agents asked to send, in the control database because all projects and gateways count together. */
export class MailUseStore {
  readonly #writer: Writer;

  constructor(writer: Writer) {
    this.#writer = writer;
  }

  /** Counts messages; if they would pass a limit, counts none and returns the limit. */
  take(use: MailUse, limits: MailLimits): Promise<MailLimitExcess | null> {
    return this.#writer.write(async (tx) => {
      await tx.put('DELETE FROM mail_use WHERE day < ?', [use.day]);
      const account = await accountScope(tx, use.projectId);
      const passed =
        (account && (await passedBy(tx, use, { of: 'account', scope: account, limits }))) ??
        (await passedBy(tx, use, { of: 'gateway', scope: GATEWAY, limits }));
      if (passed) return passed;
      for (const scope of [GATEWAY, ...(account === null ? [] : [account])]) {
        await count(tx, scope, use);
      }
      return null;
    });
  }

  /** Gives messages back to the day that they were counted on. */
  async giveBack({ projectId, messages, day }: MailUse): Promise<void> {
    await this.#writer.write(async (tx) => {
      const account = await accountScope(tx, projectId);
      await tx.put(
        'UPDATE mail_use SET asked = max(0, asked - ?) WHERE day = ? AND scope IN (?, ?)',
        [messages, day, GATEWAY, account ?? GATEWAY],
      );
    });
  }
}

async function accountScope(tx: Tx, projectId: string): Promise<string | null> {
  const row = await tx.get<{ account_id: string | null }>(
    'SELECT account_id FROM project WHERE id = ?',
    [projectId],
  );
  return row?.account_id ? `account:${row.account_id}` : null;
}

async function passedBy(
  tx: Tx,
  { messages, day }: MailUse,
  {
    of,
    scope,
    limits,
  }: { readonly of: MailLimitExcess['of']; readonly scope: string; readonly limits: MailLimits },
): Promise<MailLimitExcess | null> {
  const limit = limits[of];
  if (limit === 0) return null;
  const row = await tx.get<{ asked: number }>(
    'SELECT asked FROM mail_use WHERE scope = ? AND day = ?',
    [scope, day],
  );
  const used = row?.asked ?? 0;
  return used + messages > limit ? { of, limit, used } : null;
}

async function count(tx: Tx, scope: string, { messages, day }: MailUse): Promise<void> {
  await tx.put(
    `INSERT INTO mail_use (scope, day, asked) VALUES (?, ?, ?)
     ON CONFLICT (scope, day) DO UPDATE SET asked = asked + excluded.asked`,
    [scope, day, messages],
  );
}
