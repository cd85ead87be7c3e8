import type { Child } from 'hono/jsx';
import type { ProjectInfo } from '../../../shared/kernel/context.ts';
import type { Operation } from '../../../shared/kernel/operation.ts';
import type { Scope } from '../../../shared/lib/scopes.ts';
import type { Topic } from '../../projects/watchers.ts';
import type { Access } from './access.ts';
import type { WebInbox } from './inbox.ts';
import type { Session } from './sessions.ts';

/** One look at a page, or one form of it. */
export interface PageContext {
  readonly inbox: WebInbox;
  readonly session: Session;
  readonly access: Access;
  readonly project: ProjectInfo;
  /** What the address names behind the page, such as an id; null on the page itself. */
  readonly id: string | null;
  /** The time of the gateway. */
  readonly now: number;
  /** Goes into every form, as the field `csrf`. */
  readonly csrf: string;
  /** A field of the query; undefined where it is missing. */
  query(name: string): string | undefined;
  /** The path of the web inbox, such as `/ui`. */
  readonly root: string;
  /** The address of a page of this project: `at('requests', id)`. */
  at(page: string, id?: string): string;
  /** Runs an operation as whoever looks, and answers its value; throws its `ServiceError`. */
  call(operation: Operation, input: Readonly<Record<string, unknown>>): Promise<unknown>;
}

/** What a page shows. */
export interface PageResult {
  /** Of the tab, and of what a screen reader begins with. */
  readonly title: string;
  readonly content: Child;
  /** 200 unless said. */
  readonly status?: number;
  /** Two columns where there is room: the element with class `act` is the second. */
  readonly wide?: boolean;
}

/** What a page says besides, when a form of it was refused. */
export interface FormError {
  readonly status?: number;
  readonly problem?: string | null;
}

/** What came of a form: on to another page, or a page that says what is wrong with it. */
export type ActionResult = { readonly to: string } | PageResult;

/** A page of the web inbox. Its address is `/ui/p/{project}/{path}`, and `…/{path}/{id}` for one thing of many. */
export interface UiPage {
  readonly path: string;
  /** In the navigation. */
  readonly title: string;
  /** What a key needs to see it. */
  readonly scope: Scope | 'any';
  /** What brings it up to date. */
  readonly topics: readonly Topic[];
  readonly show: (context: PageContext) => Promise<PageResult>;
  /** The longest form, where that of the pages that decide is too short. */
  readonly formMaxBytes?: number;
  /** `visit.id` tells which; `body` is the form as it came, its `csrf` checked. */
  readonly act?: (context: PageContext, body: string) => Promise<ActionResult>;
}
