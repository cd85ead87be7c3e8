import type { ActionResult, PageContext, PageResult, UiPage } from '../inbox/page-context.ts';
import { showForm, submitForm, type FormPage } from './form.tsx';
import { actOnItem, showItem, type Item } from './item.tsx';

/** Things of one kind: their list, the form for a new one, and the page of each. */
export interface Resource<T>
  extends Omit<UiPage, 'show' | 'act'>, Pick<Item<T>, 'find' | 'detail' | 'acts'> {
  /** The link from an item to the list, such as `All keys`. */
  readonly all: string;
  readonly list: (context: PageContext) => Promise<PageResult>;
  /** The form that the query asks for; null if it asks for none, or the visitor may not. */
  readonly form?: (context: PageContext) => FormPage | null | Promise<FormPage>;
  /** What the list's own forms do. */
  readonly actOnList?: (context: PageContext, body: string) => Promise<ActionResult>;
}

export function resourcePage<T>(resource: Resource<T>): UiPage {
  const { all, list, form, actOnList, find, detail, acts, ...page } = resource;
  const item: Item<T> = {
    urlOf: (context, id) => context.at(page.path, id),
    up: (context) => [context.at(page.path), all],
    find,
    detail,
    acts,
  };
  return {
    ...page,
    show: async (context) => {
      if (context.id !== null) return showItem(item, context, context.id);
      const asked = (await form?.(context)) ?? null;
      return asked === null ? list(context) : showForm(context, asked);
    },
    act: async (context, body) => {
      if (context.id !== null) return actOnItem(item, context, { id: context.id, body });
      if (actOnList) return actOnList(context, body);
      const asked = (await form?.(context)) ?? null;
      return asked === null ? { to: context.at(page.path) } : submitForm(context, asked, body);
    },
  };
}
