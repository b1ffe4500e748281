import { expect } from 'vitest';
import {
  type Collector,
  openCollector,
  outlineOf,
  type SpanSeen,
} from '../../console/monitor/collector.ts';
import { CANARIES } from '../../e2e/clinic.ts';
import { applied, scenario, told } from '../../e2e/harness.ts';
import { ARGS, PASSED } from '../../e2e/watch-process.ts';

const AGENTS = 30;

/** Does something beside a collector, in whose requests no secret of the clinic may be. */
async function collecting<T>(
  work: (collector: Collector) => Promise<T>,
  options?: Parameters<typeof openCollector>[0],
): Promise<T> {
  const collector = await openCollector(options);
  try {
    const done = await work(collector);
    const bytes = collector.arrived.map((one) => one.bytes.toString('latin1')).join('\n');
    for (const secret of Object.values(CANARIES)) expect(bytes).not.toContain(secret);
    return done;
  } finally {
    await collector.close();
  }
}

const below = (spans: readonly SpanSeen[], { id }: SpanSeen) =>
  spans.filter(({ parent }) => parent === id);

const counted = (names: readonly (string | number | undefined)[]) =>
  Object.fromEntries(names.map((name) => [name, names.filter((one) => one === name).length]));

scenario(
  'an apply is one trace, and each request stands below the change that it is for, also after it was turned away',
  async ({ run, write, sim }) => {
    const rows = Array.from({ length: AGENTS }, (_, i) => `  a${i}: { name: Agent ${i} }`);
    await write('many.yaml', `agents:\n${rows.join('\n')}\n`);
    const turnedAway = { status: 429, headers: { 'retry-after': '0' } };
    sim.faults.add({ operation: 'createAgent', times: 5, ...turnedAway });
    const before = sim.requests.length;
    await collecting(async ({ url, spans: arrived }) => {
      await run(['apply', '--auto-approve', '--concurrency', '6'], {
        env: { OTEL_EXPORTER_OTLP_ENDPOINT: url },
      });
      const spans = arrived();
      const known = new Set(spans.map(({ id }) => id));
      const [root, ...others] = spans.filter(({ parent }) => !known.has(parent));
      expect([root?.name, root?.parent, others]).toEqual(['callsheet apply', '', []]);
      expect(new Set(spans.map(({ trace }) => trace)).size).toBe(1);
      expect(spans.map(({ name }) => name)).toEqual(
        expect.arrayContaining(['read', 'plan', 'run', 'recover', 'apply', 'verify', 'commit']),
      );

      const asked = sim.requests.slice(before).map(({ operation }) => operation);
      const requests = spans.filter(({ attributes }) => 'http.request.method' in attributes);
      expect(
        counted(requests.map(({ attributes }) => attributes['callsheet.operation'] ?? 'upload')),
      ).toEqual(counted(asked));
      const again = requests.filter(({ attributes }) => 'http.request.resend_count' in attributes);
      expect(again.length).toBeGreaterThanOrEqual(5);
      expect(
        requests
          .filter(({ isFailed }) => isFailed)
          .map(({ attributes }) => attributes['error.type']),
      ).toEqual(Array(5).fill('429'));

      const agents = spans.filter(({ name }) => name === 'create agent');
      expect(agents).toHaveLength(AGENTS + 2);
      for (const agent of agents) {
        const done = below(spans, agent).filter(
          ({ name, attributes }) =>
            name === 'POST /v1/agents' && attributes['http.response.status_code'] === 201,
        );
        expect([agent.attributes['callsheet.address'], done.length]).toEqual([
          agent.attributes['callsheet.address'],
          1,
        ]);
      }
    });
  },
);

scenario(
  'the trace of an apply has a span for each stage, change and try',
  async ({ run, write, sim }) => {
    await write(
      'resources.yaml',
      'retry_policies:\n  gentle: { name: Gentle, on_exhausted: end }\n',
    );
    await write(
      'agents.yaml',
      'agents:\n  desk: { name: Front desk, default_retry_policy_id: { $ref: retry_policy.gentle } }\n',
    );
    sim.faults.add({ operation: 'createAgent', status: 429, headers: { 'retry-after': '0' } });
    await collecting(async ({ url, spans }) => {
      await run(['apply', '--auto-approve', '--concurrency', '1'], {
        env: { OTEL_EXPORTER_OTLP_ENDPOINT: url },
      });
      expect(outlineOf(spans())).toEqual([
        'callsheet apply',
        '  read',
        '    POST /oauth/token 200',
        '    GET /v1/me 200',
        // The lists are asked for beside the account.
        '    GET /v1/retry-policies 200',
        '    GET /v1/agents 200',
        '  plan',
        '  run',
        '    recover',
        '    apply',
        '      create retry_policy',
        '        GET /v1/retry-policies 200',
        '        POST /v1/retry-policies 201',
        '        GET /v1/retry-policies/{policyId} 200',
        '      create agent',
        '        GET /v1/agents 200',
        '        POST /v1/agents 429',
        '        POST /v1/agents 201',
        '        GET /v1/agents/{agentId} 200',
        '        GET /v1/agents/{agentId}/history 200',
        '    verify',
        '    commit',
      ]);
    });
  },
);

scenario(
  'a change that fails, and one that waits for it, are failed spans without words of the platform',
  async ({ run, sim }) => {
    sim.faults.add({
      operation: 'createRetryPolicy',
      status: 422,
      body: { error: 'no', message: 'Words of the platform' },
    });
    await collecting(async ({ url, spans, arrived }) => {
      await run(['apply', '--auto-approve'], {
        env: { OTEL_EXPORTER_OTLP_ENDPOINT: url },
        exit: 3,
      });
      const failed = spans().filter(({ isFailed }) => isFailed);
      const runId = failed.find(({ name }) => name === 'create agent')?.attributes[
        'callsheet.run.id'
      ];
      const message = `\`callsheet runs ${runId}\` says why`;
      expect(
        failed
          .map(({ name, attributes, message: said }) => [name, attributes['error.type'], said])
          .sort(),
      ).toEqual([
        ['POST /v1/retry-policies', '422', ''],
        ['callsheet apply', 'partial', ''],
        ['create agent', 'blocked', message],
        ['create retry_policy', 'failed', message],
      ]);
      expect(arrived.map(({ bytes }) => bytes.toString('latin1')).join()).not.toContain('Words of');
    });
  },
);

scenario('the variables of the standard say what is sent, and how', async ({ run }) => {
  await collecting(async ({ url, spans, arrived }) => {
    const trace = '0af7651916cd43dd8448eb211c80319c';
    await run(['plan'], {
      env: {
        OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${url}/own/traces`,
        OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
        OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
        OTEL_EXPORTER_OTLP_HEADERS: 'x-key=of%20all,x-team=phones',
        OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'x-key=of%20traces',
        OTEL_SERVICE_NAME: 'phones',
        OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
        TRACEPARENT: `00-${trace}-b7ad6b7169203331-01`,
      },
    });
    expect(arrived.map(({ path }) => path)).toEqual(['/own/traces']);
    expect(arrived[0]?.headers).toMatchObject({
      'content-type': 'application/json',
      'content-encoding': 'gzip',
      'x-key': 'of traces',
      'x-team': 'phones',
    });
    expect(spans().find(({ name }) => name === 'callsheet plan')).toMatchObject({
      trace,
      parent: 'b7ad6b7169203331',
      resource: { 'service.name': 'phones', 'deployment.environment.name': 'test' },
    });
  });
});

scenario(
  'nothing is sent where it is turned off, or by what asks nothing of the platform',
  async ({ run }) => {
    await collecting(async ({ url, arrived }) => {
      const on = { OTEL_EXPORTER_OTLP_ENDPOINT: url };
      const quiet = await run(['plan'], { env: { ...on, OTEL_SDK_DISABLED: 'true' } });
      expect(quiet.err).not.toContain('Warning');
      await run(['plan'], { env: { ...on, OTEL_TRACES_EXPORTER: 'none' } });
      await run(['plan'], {
        env: { ...on, TRACEPARENT: `00-${'1'.repeat(32)}-${'1'.repeat(16)}-00` },
      });
      await run(['validate'], { env: on });
      expect(arrived).toEqual([]);
    });
  },
);

scenario(
  'what is unfit in the environment is said once, and the command does what it is to do',
  async ({ run }) => {
    const rows: readonly (readonly [Record<string, string>, string])[] = [
      [
        { OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' },
        'OTEL_EXPORTER_OTLP_ENDPOINT is not an http(s) address',
      ],
      [
        { OTEL_EXPORTER_OTLP_ENDPOINT: 'https://me:canary-otel@collector.example.test' },
        'OTEL_EXPORTER_OTLP_ENDPOINT holds a password',
      ],
      [
        { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' },
        'OTEL_EXPORTER_OTLP_PROTOCOL is neither http/protobuf nor http/json',
      ],
      [
        { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9', OTEL_TRACES_EXPORTER: 'zipkin' },
        'OTEL_TRACES_EXPORTER may be otlp or none',
      ],
      [
        { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9/canary-otel' },
        'the traces could not be delivered to 127.0.0.1:9: nothing listens at its port',
      ],
    ];
    for (const [env, words] of rows) {
      const outcome = await run(['plan'], { env });
      const warnings = outcome.err.split('\n').filter((line) => line.startsWith('Warning'));
      expect([warnings.length, outcome.err.includes(words)], told(outcome)).toEqual([1, true]);
      expect(outcome.err).not.toContain('canary-otel');
    }
  },
);

scenario(
  'a collector that never answers is not waited for, and its redirects are not followed',
  async ({ run }) => {
    await collecting(
      async ({ url, arrived }) => {
        const { err } = await run(['plan'], { env: { OTEL_EXPORTER_OTLP_ENDPOINT: url } });
        expect(err).toContain('the receiver did not answer in time');
        expect(arrived.length).toBeGreaterThan(0);
      },
      { answer: 'hang' },
    );
    await collecting(async (other) =>
      collecting(
        async ({ url }) => {
          const { err } = await run(['plan'], { env: { OTEL_EXPORTER_OTLP_ENDPOINT: url } });
          expect(err).toContain('the receiver answered 307, a redirect, which is not followed');
          expect(other.arrived).toEqual([]);
        },
        { answer: 307, location: `${other.url}/v1/traces` },
      ),
    );
  },
);

applied(
  'each pass of a watch is a trace of its own, and its figures arrive when it ends',
  async (world) => {
    await collecting(async ({ url, spans, points }) => {
      const running = world.start(ARGS, { env: { OTEL_EXPORTER_OTLP_ENDPOINT: url } });
      await running.says(PASSED);
      running.signal('SIGTERM');
      const { exit, err } = await running.ended;
      expect([exit, err]).toEqual([0, '']);
      expect(
        spans()
          .filter(({ parent }) => parent === '')
          .map(({ name }) => name),
      ).toEqual(['watch pass']);
      expect(points().find(({ name }) => name === 'callsheet_resources')?.value).toBe(8);
    });
  },
);

scenario(
  'each stack of a tree is a task of its own in the trace of the command',
  async ({ run }) => {
    await collecting(async ({ url, spans }) => {
      await run(['plan', '--recursive'], { env: { OTEL_EXPORTER_OTLP_ENDPOINT: url } });
      const all = spans();
      const [root, ...others] = all.filter(({ parent }) => parent === '');
      expect(others).toEqual([]);
      const stacks = root === undefined ? [] : below(all, root);
      expect(stacks.map(({ name, attributes }) => [name, 'callsheet.stack' in attributes])).toEqual(
        [['callsheet plan', true]],
      );
    });
  },
);
