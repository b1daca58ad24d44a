"""PPO of Stable-Baselines3 on the pictures alone; needs stable-baselines3."""

from stable_baselines3 import PPO

from emurust.sb3 import PokemonVecEnv

envs = PokemonVecEnv(16, observation="screen", max_steps=2048)
model = PPO("CnnPolicy", envs, n_steps=128, batch_size=256, n_epochs=1, gamma=0.997, verbose=1)
model.learn(total_timesteps=20_000)
envs.close()
