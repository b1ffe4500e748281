import type { Feature } from '../../feature.ts';

const ENDPOINTS = ['', 'TRACES_', 'METRICS_'].map((one) => `OTEL_EXPORTER_OTLP_${one}ENDPOINT`);

/** Sends traces and figures to the OpenTelemetry collector that the environment names. */
export const telemetry: Feature = {
  name: 'telemetry',
  observe: async (deps) => {
    const { env } = deps;
    if (env.OTEL_SDK_DISABLED?.trim().toLowerCase() === 'true') return undefined;
    if (!ENDPOINTS.some((name) => env[name])) return undefined;
    return (await import('./telemetry.ts')).openTelemetry(deps);
  },
};
