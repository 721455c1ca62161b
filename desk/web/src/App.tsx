import { useEffect, useState } from "react";
import { useImport } from "./Import";
import { Start } from "./Start";
import { StoryPage } from "./StoryPage";

const storyOf = () => /^#\/story\/([\w-]+)/.exec(location.hash)?.[1] ?? "";

export const goTo = (story: string) => {
  location.hash = story ? `#/story/${story}` : "#/";
};

export function App() {
  const [story, setStory] = useState(storyOf);
  useEffect(() => {
    const moved = () => setStory(storyOf());
    addEventListener("hashchange", moved);
    return () => removeEventListener("hashchange", moved);
  }, []);
  const { onFile, shown } = useImport();
  return (
    <>
      {story ? <StoryPage key={story} id={story} /> : <Start onFile={onFile} />}
      {shown}
    </>
  );
}
