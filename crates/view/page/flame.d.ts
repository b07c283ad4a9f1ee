export interface Host { inPage: true; width(): number; changed(): void; tell(text: string): void }
export interface Graph {
  state: { zoom: number, focus: number, side: number };
  vanished(): { frames: number, share: number }; legend(): HTMLElement; weightsOf(i: number): number[];
  layout(): void; zoomTo(i: number): void; search(text: string): boolean; matched(): { share: number, most: number };
  nextMatch(back: boolean): void; update(): void; lineAbout(i: number): string; pathTo(i: number): number[]; frameOf(path: number[]): number;
  focusOn(i: number): void; focusFrames(): void; about(i: number): { name: string, binary: string, isFunction: boolean, named: boolean }; remove(): void; act(key: string): void;
}
export function wanted(text: string): { pattern: RegExp, valid: boolean };
export function flameGraph(data: any, svg: SVGElement, host: any): Graph;
