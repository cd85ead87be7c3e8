import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ListToolsResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { isObject } from '../../../shared/lib/guards.ts';
import { permits, type Schema } from './permits.ts';
import type { Clue, Step, Task, Value } from './task.ts';
import type { Place } from './world.ts';

type Fields = Record<string, unknown>;

interface Tool {
  readonly name: string;
  readonly description?: string | undefined;
  readonly inputSchema: Schema;
}

interface Answer {
  readonly text: string;
  readonly value: unknown;
  readonly isError: boolean;
}

/** How a task went. */
export interface Outcome {
  readonly task: string;
  readonly calls: number;
  /** What the agent had to read before its first call: the instructions and the list of tools. */
  readonly before: number;
  /** The answers that it read. */
  readonly read: number;
  /** Refusals after which it went on. */
  readonly recoveries: number;
  /** What our wording doesn't provide, and answers that are not as they should be. */
  readonly faults: readonly string[];
}

/** An agent that knows only what it has read: each step says where every value comes from, and this checks it. */
export class ScriptedAgent {
  readonly #client: Client;
  readonly #tools: readonly Tool[];
  readonly #place: Place;
  readonly #goal: string;
  readonly #answers: Answer[] = [];
  readonly #faults: string[] = [];

  private constructor(client: Client, tools: readonly Tool[], place: Place, goal: string) {
    this.#client = client;
    this.#tools = tools;
    this.#place = place;
    this.#goal = goal;
  }

  /** Does a task from beginning to end. */
  static async do(task: Task, place: Place): Promise<Outcome> {
    for (const happening of task.given ?? []) await place.happen(happening);
    const client = new Client({ name: 'scripted-agent', version: '1.0.0' });
    const authorization = `Bearer ${await place.key(task.scopes)}`;
    await client.connect(
      new StreamableHTTPClientTransport(new URL(`${place.url}/mcp`), {
        requestInit: { headers: { authorization } },
      }),
    );
    try {
      // Not `listTools`, which builds a validator of every answer: a second for each task.
      const list = await client.request({ method: 'tools/list' }, ListToolsResultSchema);
      const tools = list.tools as readonly Tool[];
      const goal = task.goal.replace('{event}', place.event);
      const agent = new ScriptedAgent(client, tools, place, goal);
      for (const step of task.steps) await agent.#take(step);
      return agent.#outcome(task);
    } finally {
      await client.close();
    }
  }

  #outcome({ name, steps }: Task): Outcome {
    const instructions = this.#client.getInstructions() ?? '';
    return {
      task: name,
      calls: this.#answers.length,
      before: instructions.length + JSON.stringify(this.#tools).length,
      read: this.#answers.reduce((sum, { text }) => sum + text.length, 0),
      recoveries: steps.slice(0, -1).filter(({ refused }) => refused !== undefined).length,
      faults: this.#faults,
    };
  }

  async #take(step: Step): Promise<void> {
    const where = `${this.#answers.length}: ${step.tool}`;
    const fault = (what: string) => void this.#faults.push(`${where}: ${what}`);
    const tool = this.#tools.find(({ name }) => name === step.tool);
    if (!this.#textOf(step.because, tool).includes(step.because.says)) {
      fault(`"${step.because.says}" isn't in the ${step.because.in}`);
    }
    const args = this.#argsOf(step, tool, fault);
    if (!step.slip) misfits(tool, args).forEach(fault);
    const answer = await this.#call(step.tool, args);
    this.#answers.push(answer);
    faultsOf(step, answer).forEach(fault);
    if (step.meanwhile) await this.#place.happen(step.meanwhile);
  }

  #argsOf({ args }: Step, tool: Tool | undefined, fault: (what: string) => void): Fields {
    const resolved = Object.entries(args).map(([name, value]) => {
      const schema = propertyOf(tool?.inputSchema, name) ?? {};
      return [name, this.#resolve(value, schema, (what) => fault(`${name}: ${what}`))];
    });
    return Object.fromEntries(resolved) as Fields;
  }

  async #call(name: string, args: Fields): Promise<Answer> {
    const result = await this.#client.callTool({ name, arguments: args });
    const content = result.content as { type: string; text?: string }[];
    const text = content.map((part) => part.text ?? '').join('\n');
    const isError = result.isError === true;
    return { text, isError, value: result.structuredContent ?? (isError ? null : parsed(text)) };
  }

  /** What the agent has read where a clue should be. */
  #textOf(clue: Clue, tool: Tool | undefined): string {
    switch (clue.in) {
      case 'goal':
        return this.#goal;
      case 'instructions':
        return this.#client.getInstructions() ?? '';
      case 'tool':
        return tool ? `${tool.description} ${JSON.stringify(tool.inputSchema)}` : '';
      case 'answer':
        return this.#answers.at(clue.of ?? -1)?.text ?? '';
    }
  }

  /** The value, having checked that the agent can have it from where it says. */
  #resolve(value: Value, schema: Schema, fault: (what: string) => void): unknown {
    if ('object' in value) {
      const members = Object.entries(value.object).map(([name, one]) => {
        const own = propertyOf(schema, name) ?? {};
        return [name, this.#resolve(one, own, (what) => fault(`${name}: ${what}`))];
      });
      return Object.fromEntries(members);
    }
    if ('list' in value) {
      return value.list.map((one) => this.#resolve(one, schema.items ?? {}, fault));
    }
    if ('joined' in value) {
      return value.joined.map((one) => String(this.#resolve(one, {}, fault))).join('');
    }
    if ('goal' in value) {
      const said = value.goal === '{event}' ? this.#place.event : value.goal;
      if (!this.#goal.includes(String(said))) fault(`the goal doesn't say ${String(said)}`);
      return said;
    }
    if ('read' in value) return this.#read(value, fault);
    const [kind, plain] =
      'own' in value ? ['own' as const, value.own] : ['listed' as const, value.listed];
    const refusal = permits(schema, plain, kind);
    if (refusal !== null) fault(refusal);
    return plain;
  }

  #read({ read, of = -1 }: { read: string; of?: number }, fault: (what: string) => void): unknown {
    const answer = this.#answers.at(of);
    const found = valueAt(answer?.value, read);
    const written = typeof found === 'string' ? JSON.stringify(found).slice(1, -1) : String(found);
    // Models read the text; the structured content is for programs.
    if (found === undefined || !answer?.text.includes(written)) fault(`no answer has ${read}`);
    return found;
  }
}

/** What the list says against a call. */
function misfits(tool: Tool | undefined, args: Fields): string[] {
  if (!tool) return ['the list has no such tool'];
  const ajv = new Ajv2020({ strict: false });
  return ajv.validate(tool.inputSchema, args) ? [] : [`the schema says ${ajv.errorsText()}`];
}

function faultsOf({ answer = {}, refused }: Step, got: Answer): string[] {
  if (refused !== undefined) {
    return got.isError && got.text.startsWith(`${refused}: `) ? [] : [`answered ${got.text}`];
  }
  if (got.isError) return [`refused: ${got.text}`];
  return Object.entries(answer).flatMap(([path, wanted]) => {
    const found = valueAt(got.value, path);
    const fits = wanted === '…' ? found !== undefined && found !== null : found === wanted;
    return fits ? [] : [`the answer has ${JSON.stringify(found)} at ${path}`];
  });
}

/** The value at a path such as `items.0.id`. */
function valueAt(value: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>(
      (inside, name) =>
        Array.isArray(inside) ? inside[Number(name)] : isObject(inside) ? inside[name] : undefined,
      value,
    );
}

function propertyOf(schema: Schema | undefined, name: string): Schema | undefined {
  return schema?.properties?.[name];
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
