import type { DesiredResource } from '../core/desired.ts';
import { formatPosition } from '../core/diagnostics.ts';
import type { Origin, Span } from '../lint/rule.ts';
import { bodyOf, placeAt } from './extent.ts';
import { type Folder, isUnreadable } from './folder.ts';
import { lineAt, lineRange, type Place, placeOf, type Source } from './source.ts';

/** Finds where the text of a field is written: in the YAML, or in the file that it names. */
export type Texts = {
  readonly originOf: (resource: DesiredResource, path: string) => Origin;
  /** The place of a part of a field's text; of the field where that cannot be told. */
  readonly placeOf: (resource: DesiredResource, path: string, span?: Span) => Place | undefined;
};

const FILE_FORM =
  /\$file["']?\s*:\s*(?:"(?<double>[^"\n]+)"|'(?<single>[^'\n]+)'|(?<plain>[^\s"'{},][^\n{},]*))/;

export function openTexts(folder: Folder): Texts {
  const textOf = (file: string): Source | undefined => {
    const read = folder.text(file);
    return isUnreadable(read) ? undefined : read.source;
  };
  const field = (resource: DesiredResource, path: string): Place | undefined => {
    const position = resource.locate(path);
    const source = position && textOf(position.file);
    return position && source && placeAt(source, position);
  };
  /** The file that a field names: one whose text is the field's, so that nothing else is taken for it. */
  const fileOf = (resource: DesiredResource, path: string, place: Place): Source | undefined => {
    const body = bodyOf(place);
    const groups = FILE_FORM.exec(body.source.text.slice(body.start, body.end))?.groups;
    const name = groups?.double ?? groups?.single ?? groups?.plain?.trim();
    const file = name === undefined ? undefined : textOf(name);
    return file?.text === resource.document[path] ? file : undefined;
  };
  return {
    originOf: (resource, path) => {
      const place = field(resource, path);
      const file = place && fileOf(resource, path, place);
      if (file !== undefined) return { key: file.file, label: file.file };
      const position = resource.locate(path);
      const anchor = place && anchorAt(place);
      if (position !== undefined && anchor !== undefined) {
        return { key: `${position.file} &${anchor}`, label: `${position.file}:${position.line}` };
      }
      // Without a place every text counts as written on its own.
      if (position === undefined) return { key: `${resource.address} ${path}`, label: path };
      return { key: formatPosition(position), label: `${position.file}:${position.line}` };
    },
    placeOf: (resource, path, span) => {
      const place = field(resource, path);
      const text = resource.document[path];
      if (place === undefined || span === undefined || typeof text !== 'string') return place;
      const file = fileOf(resource, path, place);
      if (file !== undefined) return { source: file, start: span.start, end: span.end };
      const { start, end } = placeOf(text.slice(span.start, span.end), bodyOf(place));
      const isFound = end - start === span.end - span.start;
      return isFound ? { ...place, start, end } : firstLine(place);
    },
  };
}

/** The anchor that a key's value is given or taken from: `prompt: &shared …` and `prompt: *shared` are one text. */
function anchorAt({ source, start, end }: Place): string | undefined {
  return /^[\w"']+\s*:\s*[&*]([^\s,[\]{}]+)/.exec(source.text.slice(start, end))?.[1];
}

function firstLine({ source, start, end }: Place): Place {
  return {
    source,
    start,
    end: Math.min(end, lineRange(source, lineAt(source, start))?.end ?? end),
  };
}
