import { AsyncLocalStorage } from 'node:async_hooks';
import type { Span } from '@opentelemetry/api';
import type { Telemetry, TelemetryDeps } from '../../console/context.ts';
import { type Address, getKind } from '../../core/address.ts';
import { CallsheetError } from '../../core/errors.ts';
import type { Otlp } from './otlp.ts';

/** The task or stage in which something is done. */
type Place = {
  readonly span: (otlp: Otlp) => Span;
  /** The task that it is part of. */
  readonly task: Place | undefined;
};

/**
 * Traces, and the figures of `/metrics`, for the OpenTelemetry collector that the environment names:
 *
 *   task: the command; a stack of many; a pass of `watch`; a job of `queue work`
 *   ├─ stage: read, plan
 *   └─ stage: run ─▶ recover, apply, verify, commit
 *      └─ change: `update agent`
 *         └─ request: `PUT /v1/agents/{agentId}`, each try
 *
 * The parent of a request, change or stage follows from its call (`AsyncLocalStorage`). The SDK, a chunk of its own, is
 * loaded by the first stage, request or figure, and by nothing else.
 */
export function openTelemetry(deps: TelemetryDeps): Telemetry {
  const places = new AsyncLocalStorage<Place>();
  let loading: Promise<Otlp> | undefined;
  let loaded: Otlp | undefined;

  async function load(): Promise<Otlp> {
    loading ??= import('./otlp.ts').then(({ openOtlp }) => openOtlp(deps));
    loaded = await loading;
    return loaded;
  }

  const within = (otlp: Otlp, place = places.getStore()) => place?.span(otlp);

  return {
    async task(name, work, { isRoot = false, failure = () => undefined } = {}) {
      const startTime = Date.now();
      const outer = isRoot ? undefined : places.getStore();
      let span: Span | undefined;
      const place: Place = {
        span(otlp) {
          span ??= otlp.start(name, { startTime, parent: outer?.span(otlp) });
          return span;
        },
        get task() {
          return place;
        },
      };
      return ending(
        () => span,
        async () => {
          const result = await places.run(place, work);
          const why = failure(result);
          if (why !== undefined) fail(span, why);
          return result;
        },
      );
    },

    async stage(name, work, attributes = {}) {
      const otlp = await load();
      const span = otlp.start(name, { parent: within(otlp), attributes });
      const place = { span: () => span, task: places.getStore()?.task };
      return ending(place.span, () => places.run(place, work));
    },

    describe(attributes) {
      if (loaded !== undefined) within(loaded, places.getStore()?.task)?.setAttributes(attributes);
    },

    changes() {
      const spans = new Map<Address, Span>();
      let stage: Place | undefined;
      let run = '';
      const begin = (otlp: Otlp, address: Address, action: string) =>
        otlp.start(`${action} ${getKind(address)}`, {
          parent: within(otlp, stage),
          attributes: {
            'callsheet.run.id': run,
            'callsheet.address': address,
            'callsheet.action': action,
          },
        });
      return (event) => {
        if (loaded === undefined) return;
        if (event.type === 'run_started') {
          stage = places.getStore();
          run = event.run;
        }
        if (event.type === 'change_started') {
          const span = begin(loaded, event.address, event.action);
          spans.set(event.address, span);
          // The executor tells it at the top of what it does for the change: all of that happens in it.
          places.enterWith({ span: () => span, task: stage?.task });
        }
        if (event.type === 'change_ended') {
          const { address, action, status } = event.line;
          // A change that is blocked, or left out, never began.
          const span = spans.get(address) ?? begin(loaded, address, action);
          spans.delete(address);
          span.setAttribute('callsheet.status', status);
          if (status === 'failed' || status === 'blocked')
            fail(span, status, `\`callsheet runs ${run}\` says why`);
          span.end();
        }
      };
    },

    through: (wire) => (network) => {
      const transport = wire?.(network) ?? network;
      return {
        ...transport,
        async send(request) {
          const otlp = await load();
          const span = otlp.startRequest(request, within(otlp));
          return ending(
            () => span,
            async () => {
              const answer = await transport.send(request);
              otlp.answered(span, answer);
              return answer;
            },
          );
        },
      };
    },

    measure: (collect) => void load().then((otlp) => otlp.measure(collect)),

    async close() {
      if (loading !== undefined) await (await load()).close();
    },
  };
}

/** `SpanStatusCode.ERROR`, which is not worth loading a package for. */
const FAILED = 2;

/** Does what a span is about, and ends it with that. A task has none before something is sent in it. */
async function ending<T>(span: () => Span | undefined, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    fail(span(), getErrorType(error));
    throw error;
  } finally {
    span()?.end();
  }
}

/** No message of an error is passed on: the platform's own words may repeat what was sent. */
function fail(span: Span | undefined, type: string, message?: string): void {
  span?.setAttribute('error.type', type);
  span?.setStatus(message === undefined ? { code: FAILED } : { code: FAILED, message });
}

function getErrorType(error: unknown): string {
  return error instanceof CallsheetError ? error.code : 'internal';
}
