// Which page the address names: the start, or one story.
export const storyInAddress = () => /^#\/story\/([\w-]+)/.exec(location.hash)?.[1] ?? "";

export const goTo = (story: string) => {
  location.hash = story ? `#/story/${story}` : "#/";
};
