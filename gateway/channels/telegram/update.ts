import * as z from 'zod';

const user = z.object({
  id: z.int(),
  first_name: z.string().catch(''),
  last_name: z.string().optional().catch(undefined),
  username: z.string().optional().catch(undefined),
});
const chat = z.object({ id: z.int(), type: z.string() });

const message = z.object({
  message_id: z.int(),
  chat,
  from: user,
  text: z.string().optional(),
  reply_to_message: z.object({ message_id: z.int() }).optional(),
});

const callbackQuery = z.object({
  id: z.string(),
  from: user,
  data: z.string(),
  message: z.object({ message_id: z.int(), chat }),
});

/** The parts of an update that we read. */
const update = z.union([
  z.object({ update_id: z.int(), callback_query: callbackQuery }),
  z.object({ update_id: z.int(), message }),
]);

export type Update = z.infer<typeof update>;
export type Message = z.infer<typeof message>;
export type CallbackQuery = z.infer<typeof callbackQuery>;

/** Null for updates that we ignore and for anything else. */
export function parseUpdate(value: unknown): Update | null {
  const parsed = update.safeParse(value);
  return parsed.success ? parsed.data : null;
}

const numbered = z.object({ update_id: z.int().nonnegative() });

/** The number of an update; even one that we don't understand has it. */
export function updateId(value: unknown): number | null {
  const parsed = numbered.safeParse(value);
  return parsed.success ? parsed.data.update_id : null;
}
