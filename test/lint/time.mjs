/**
 * Rules of oxlint that keep tests true on a busy machine: how long something took depends on what else runs there.
 * `measured-time` refuses to assert it, and `patient-waits` to give up early. `fixtures.ts` shows both.
 */

/** Calls that tell the time, or what the processor did. */
const CLOCKS = new Set([
  'performance.now',
  'performance.eventLoopUtilization',
  'Date.now',
  'process.hrtime',
  'process.hrtime.bigint',
  'process.cpuUsage',
]);
/** What measured times are called, in tests and in what they get from helpers. */
const MEASURED =
  /^(?:took|elapsed|heldMs|latency|gaps?|durationMs|duration_ms)$|(?:Took|Elapsed|Duration|Latency|Gap|After)(?:Ms)?$/;
const UPPER_BOUNDS = new Set(['toBeLessThan', 'toBeLessThanOrEqual', 'toBeCloseTo']);

/** What is a measured time if any part of it is. */
const PARTS = new Set([
  'BinaryExpression',
  'LogicalExpression',
  'ConditionalExpression',
  'UnaryExpression',
  'AwaitExpression',
  'SpreadElement',
  'ArrayExpression',
  'ChainExpression',
  'TSAsExpression',
  'TSNonNullExpression',
]);

/** `a.b` as text; the last part of anything longer that isn't made of names. */
function nameOf(node) {
  switch (node?.type) {
    case 'Identifier':
      return node.name;
    case 'PrivateIdentifier':
      return `#${node.name}`;
    case 'MemberExpression':
      return `${nameOf(node.object)}.${nameOf(node.property)}`;
    default:
      return '';
  }
}

const lastName = (node) => nameOf(node.type === 'MemberExpression' ? node.property : node);

function childrenOf(node) {
  return Object.entries(node)
    .filter(([key]) => key !== 'parent')
    .flatMap(([, value]) => value)
    .filter((value) => typeof value?.type === 'string');
}

/** The node and all in it. */
function* within(node) {
  yield node;
  for (const child of childrenOf(node)) yield* within(child);
}

/** What the nearest `expect` looks at, of `expect(…).not.toBeLessThan` and the like. */
function subjectOf(assertion) {
  for (const node of within(assertion.callee)) {
    if (node.type === 'CallExpression' && nameOf(node.callee).startsWith('expect')) {
      return node.arguments[0];
    }
  }
  return undefined;
}

const MEASURED_TIME =
  'A busy machine takes longer. Assert what has happened by then, or that work grows in proportion (helpers/growth.ts); a figure belongs in test/bench.';

const measuredTime = {
  create(context) {
    const found = [];
    const assertions = [];
    const measured = new Set();
    const give = (target, value) => {
      if (!value) return;
      for (const node of target.type === 'ObjectPattern' ? within(target) : [target]) {
        found.push([lastName(node), value]);
      }
    };

    /** Whether a value is a time that was measured, or computed from one. */
    function tells(node) {
      if (!node) return false;
      if (PARTS.has(node.type)) return childrenOf(node).some(tells);
      return waysToTell[node.type]?.(node) ?? false;
    }
    const waysToTell = {
      Identifier: ({ name }) => measured.has(name) || MEASURED.test(name),
      MemberExpression: ({ object, property, computed }) =>
        tells(object) || (!computed && tells(property)),
      CallExpression: ({ callee, arguments: given }) =>
        CLOCKS.has(nameOf(callee)) || tells(callee) || given.some(isPart),
      ArrowFunctionExpression: ({ body }) =>
        body.type === 'BlockStatement' ? returns(body) : tells(body),
      FunctionExpression: ({ body }) => returns(body),
      FunctionDeclaration: ({ body }) => returns(body),
    };
    /** An argument counts if the function might be `Math.max`, but not what it does later. */
    const isPart = (node) => !/Function/.test(node.type) && tells(node);
    /** `took < 1000` in `expect(took < 1000).toBe(true)`. */
    const isCompared = (node) =>
      node?.type === 'BinaryExpression' && /^[<>]/.test(node.operator) && tells(node);
    const returns = (body) =>
      [...within(body)].some((node) => node.type === 'ReturnStatement' && tells(node.argument));

    return {
      VariableDeclarator: ({ id, init }) => give(id, init),
      AssignmentExpression: ({ left, right }) => give(left, right),
      PropertyDefinition: ({ key, value }) => give(key, value),
      FunctionDeclaration: (node) => give(node.id, node),
      CallExpression(node) {
        const { callee } = node;
        if (callee.type !== 'MemberExpression') return;
        const name = nameOf(callee.property);
        if (name === 'push') give(callee.object, node.arguments[0]);
        if (UPPER_BOUNDS.has(name) || name === 'toBe') assertions.push([name, node]);
      },
      'Program:exit'() {
        for (let before = -1; before < measured.size;) {
          before = measured.size;
          for (const [name, value] of found) if (name !== '' && tells(value)) measured.add(name);
        }
        for (const [name, node] of assertions) {
          const subject = subjectOf(node);
          if (name === 'toBe' ? isCompared(subject) : tells(subject)) {
            context.report({ node, message: MEASURED_TIME });
          }
        }
      },
    };
  },
};
/** A wait that ends earlier, in milliseconds, fails where nothing is wrong. */
const PATIENCE_MIN_MS = 60_000;
/** A test or hook that is ended earlier was perhaps not hanging. */
const HUNG_MIN_MS = 120_000;
const RUN = /^(?:it|test|describe|beforeAll|beforeEach|afterAll|afterEach)\b/;

const numberOf = (node) => (typeof node?.value === 'number' ? node.value : Infinity);

/** The `timeout` of an object that has nothing else but an interval: options of a wait. */
function patienceOf(node) {
  const names = node.properties.map(({ key }) => nameOf(key));
  if (!names.every((name) => name === 'timeout' || name === 'interval')) return Infinity;
  return numberOf(node.properties.find(({ key }) => nameOf(key) === 'timeout')?.value);
}

/** Whether it's given to a wait, or is a constant that may be. */
function isOfWait({ parent }) {
  if (parent.type !== 'CallExpression')
    return /^(?:VariableDeclarator|TSAsExpression)$/.test(parent.type);
  return /^(?:poll|waitFor|waitUntil)$/.test(lastName(parent.callee));
}

const patientWaits = {
  create(context) {
    const report = (node, message) => context.report({ node, message });
    return {
      ObjectExpression(node) {
        if (isOfWait(node) && patienceOf(node) < PATIENCE_MIN_MS) {
          report(node, `Wait for ${PATIENCE_MIN_MS} ms at least: expect.poll does by itself.`);
        }
      },
      CallExpression(node) {
        const { callee, arguments: given } = node;
        if (/^vi\.wait(?:For|Until)$/.test(nameOf(callee)) && given.length < 2) {
          report(node, 'This waits for a second only: use expect.poll.');
        }
        const tests = callee.type === 'CallExpression' ? callee.callee : callee;
        if (RUN.test(nameOf(tests)) && numberOf(given.at(-1)) < HUNG_MIN_MS) {
          report(node, `The runner's time-out is against hanging: ${HUNG_MIN_MS} ms at least.`);
        }
      },
    };
  },
};

export default {
  meta: { name: 'svc' },
  rules: { 'measured-time': measuredTime, 'patient-waits': patientWaits },
};
