import type { ApprovalContext, ReadContext } from '../../kernel/context.ts';
import { ROLE_RULES } from '../../rules/roles.ts';
import type { MadeRow } from '../../store/tables/access/makers.ts';
import type { Repositories } from '../../store/repositories.ts';
import { memberNamed } from './actor.ts';
import { toMadeThing, type Aftermath, type LeftThing } from './view.ts';

type MadeContext = Pick<ReadContext, 'store' | 'now'> | Pick<ApprovalContext, 'store' | 'now'>;

/** What these makers left, through all generations, and which of it goes on by itself when they end. */
export interface MadeParts {
  readonly line: readonly string[];
  /** Ends with its makers. */
  readonly ending: readonly MadeRow[];
  readonly staying: readonly LeftThing[];
}

/**
 * What the makers and the keys that they made have left. It ends with them, except people whom somebody else let in as
 * well (members who joined, channels that an owner approved) and addresses that senders use.
 */
export async function madeParts(
  { store, now }: MadeContext,
  makers: readonly string[],
): Promise<MadeParts> {
  const line = await store.makers.line(makers);
  const rows = await store.makers.made(makers, now);
  const staying = rows.filter(stays).map((row) => ({ ...toMadeThing(row), hint: hintFor(row) }));
  const known = await knownSources(store, line, staying);
  return { line, ending: rows.filter((row) => !stays(row)), staying: [...staying, ...known] };
}

/** What remains if only the maker has ended; `before` is what there was until then. */
export async function keptParts(
  context: MadeContext,
  makers: readonly string[],
  before: MadeParts,
): Promise<Aftermath> {
  const { ending, staying } = await madeParts(context, makers);
  const isLeft = (row: MadeRow): boolean =>
    ending.some(({ kind, id }) => kind === row.kind && id === row.id);
  const hint =
    'You kept it. To end it, revoke the key again without `keep`, or use its page in the web inbox.';
  return {
    // Links to files end with their key in any case.
    ended: before.ending.filter((row) => !isLeft(row)).map(toMadeThing),
    left: [...ending.map((row) => ({ ...toMadeThing(row), hint })), ...staying],
  };
}

function stays({ kind, status }: MadeRow): boolean {
  if (kind === 'channel') return status === 'active';
  return kind === 'member' || kind === 'source' || kind === 'callback_secret';
}

function hintFor({ kind, id, name }: MadeRow): string {
  switch (kind) {
    case 'member':
      return `They joined by an invitation that it wrote. If you don't know them: svc member remove ${id}`;
    case 'channel':
      return `An owner let it decide. If you don't know the person: svc channel remove ${id}`;
    case 'callback_secret':
      return 'It knows what signs callbacks of requests. Make a new one and give it to the receivers: svc request callback secret';
    default:
      return `It made the address or the secret. ${sourceHint(name)}`;
  }
}

function sourceHint(name: string): string {
  return `Senders go on. For a new address: svc source remove ${name}, then svc source add; for a new secret: svc source rotate ${name} --secret @FILE --previous-valid-seconds 0`;
}

/** Who has admin could read every address, whoever made it. */
async function knownSources(
  store: Repositories,
  line: readonly string[],
  made: readonly LeftThing[],
): Promise<LeftThing[]> {
  const admins = await Promise.all(line.map((id) => isAdmin(store, id)));
  if (!admins.includes(true)) return [];
  const shown = made.filter(({ kind }) => kind === 'source').map(({ id }) => id);
  return (await store.sources.list())
    .filter(({ name }) => !shown.includes(name))
    .map(({ name }) => {
      const hint = `It could read the address. ${sourceHint(name)}`;
      return { kind: 'source', id: name, name, hint };
    });
}

async function isAdmin({ keys, members }: Repositories, maker: string): Promise<boolean> {
  if (maker.startsWith('key_')) return (await keys.find(maker))?.scopes.includes('admin') === true;
  const member = await memberNamed(members, maker);
  return member !== undefined && ROLE_RULES[member.role].scopes.includes('admin');
}
