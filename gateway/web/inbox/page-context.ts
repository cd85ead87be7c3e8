import type { Child } from 'hono/jsx';
import type { Caller, ProjectInfo } from '../../../shared/kernel/context.ts';
import type * as z from 'zod';
import type { Operation, TypedOperation } from '../../../shared/kernel/operation.ts';
import type { Scope } from '../../../shared/lib/scopes.ts';
import type { Topic } from '../../projects/watchers.ts';
import type { Access } from './session/access.ts';
import type { PageGroup, Section } from './frame/groups.ts';
import type { WebInbox } from './inbox.ts';
import type { PageRead } from './page-read.ts';
import type { Session } from './session/sessions.ts';

/** One request for a page or one submitted form. */
export interface PageContext {
  readonly inbox: WebInbox;
  readonly session: Session;
  readonly access: Access;
  /** The visitor, as the executor and the ledger know them. */
  readonly caller: Caller;
  readonly project: ProjectInfo;
  /** The part of the URL after the page, such as an id; null on the page itself. */
  readonly id: string | null;
  /** The gateway's time. */
  readonly now: number;
  /** The value for the field `csrf` in every form. */
  readonly csrf: string;
  /** A field of the query; undefined if missing. */
  query(name: string): string | undefined;
  /** The path of the web inbox, such as `/ui`. */
  readonly root: string;
  /** The pages that the visitor may open. */
  readonly pages: readonly UiPage[];
  /** The URL of a page of this project, such as `at('requests', id)`. */
  at(page: string, id?: string): string;
  /**
   * Runs an operation as the visitor and returns its answer; throws its `ServiceError`. It checks the input, whose
   * values may come from a form.
   */
  call<I extends z.ZodObject, O extends z.ZodType>(
    operation: TypedOperation<I, O>,
    input: { readonly [K in keyof z.input<I>]?: unknown },
  ): Promise<z.output<O>>;
  /** The same for a read that only pages make. */
  read<I, O>(read: PageRead<I, O>, input: I): Promise<O>;
  /** The same; null for a visitor who may not read it. */
  readOrNull<I, O>(read: PageRead<I, O>, input: I): Promise<O | null>;
  /** Whether the visitor's scopes allow this. */
  readonly may: (operation: Pick<Operation, 'scope' | 'effect'>) => boolean;
}

/** The content of a page. */
export interface PageResult {
  /** The title of the browser tab, which screen readers read first. */
  readonly title: string;
  readonly content: Child;
  /** The HTTP status (default 200). */
  readonly status?: number;
  /** The page shows pictures whose URLs start with this. */
  readonly picturesFrom?: string;
  /** Why a form was refused, above all of the page. */
  readonly problem?: string;
  /** Two columns if there is room; the second one is the element with class `act`. */
  readonly wide?: boolean;
}

/** What a page shows after it refused a form. */
export interface FormError {
  readonly status?: number;
  readonly problem?: string | null;
}

/** The result of a form: the URL of the next page, or a page that explains what's wrong. */
export type ActionResult = { readonly to: string } | PageResult;

/** A page of the web inbox. Its URL is `/ui/p/{project}/{path}`, or `…/{path}/{id}` for a single item. */
export interface UiPage {
  readonly path: string;
  /** The title in the navigation. */
  readonly title: string;
  /** Its place in the first row of the navigation; the group's first page opens from there. */
  readonly group: PageGroup;
  /** Of a page among the settings: the heading it's under, and what it's for. */
  readonly setting?: { readonly section: Section; readonly about: string };
  /** The scope that a key needs to see the page. */
  readonly scope: Scope | 'any';
  /** Whether the page is there at all; every visitor with the scope sees a page without it. */
  readonly isThere?: (inbox: WebInbox, access: Access) => boolean;
  /** The changes after which the page refreshes. */
  readonly topics: readonly Topic[];
  /** How long a refresh is put off after the last one, if the page is dear or would never rest. */
  readonly paceMs?: number;
  readonly show: (context: PageContext) => Promise<PageResult>;
  /** The maximum size of a form, if the limit of the decision pages is too small. */
  readonly formMaxBytes?: number;
  /** `context.id` names the item; `body` is the form as sent, with its `csrf` checked. */
  readonly act?: (context: PageContext, body: string) => Promise<ActionResult>;
}
